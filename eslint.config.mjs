// The pages are made of several scripts in one scope, so that a name may be defined in another file:
// undefined names are checked over all of them together, by the tests that open each page.
import js from "@eslint/js";
import html from "eslint-plugin-html";
import globals from "globals";

// Properties of `window` whose names the pages use for variables of their own.
const OWN = { model: "off", frames: "off", close: "off" };

export default [
  { ignores: ["build/**", "**/.venv/**", "docs/_build/**"] },
  {
    ...js.configs.recommended,
    files: ["src/**/*.js", "src/**/*.html"],
    plugins: { html },
    languageOptions: {
      ecmaVersion: 2023,
      sourceType: "script",
      globals: { ...globals.browser, ...OWN },
    },
    rules: {
      ...js.configs.recommended.rules,
      "no-undef": "off",
      "no-unused-vars": ["error", { vars: "local", args: "after-used" }],
      "no-var": "error",
      "prefer-const": "error",
      eqeqeq: "error",
    },
  },
  { files: ["src/catena/studio/widget.js"], languageOptions: { sourceType: "module" } }, // anywidget imports it
];
