// The tree of the model and the values of what is selected in it. Faults stand where they were made.
const GROUPS = [
  ["parameters", "Parameters"],
  ["body", "Bodies"],
  ["joint", "Joints"],
  ["loop", "Loops"],
  ["frame", "Frames"],
  ["load", "Loads"],
  ["row", "Speed rows"],
  ["contact", "Contacts"],
  ["ground", "Ground"],
  ["expressions", "Expressions"],
  ["scenario", "Scenario"],
];
const REFERENCES = {
  parent: "bodies",
  child: "bodies",
  body: "bodies",
  start: "frames",
  end: "frames",
  frame: "frames",
  sphere: "frames",
  surface: "frames",
  coordinate: "coordinates",
  joint: "joints",
};

class Tree {
  constructor(box, values, on) {
    this.box = box;
    this.values = values;
    this.on = on;
    this.chosen = null;
    this.folded = new Set();
    this.model = null;
  }
  get name() {
    const c = this.chosen;
    return c && c.length === 2 && this.model && this.model.data
      ? ((this.model.data[c[0]] || [])[c[1]] || {}).name || ""
      : "";
  }

  show(model, schema) {
    this.model = model;
    this.schema = schema;
    if (!model.data) return; // the text is not TOML: the tree stays as it was, and the fault is shown
    if (this.chosen && !this.at(this.chosen)) this.chosen = null;
    const keep = this.box.scrollTop;
    this.box.replaceChildren(...this.groups());
    this.box.scrollTop = keep;
    this.inspect();
  }
  at(path) {
    let x = this.model.data;
    for (const p of path) {
      if (x === undefined || x === null) return undefined;
      x = x[p];
    }
    return x;
  }
  faultsOf(kind, name) {
    return this.model.faults.filter((f) =>
      kind === "scenario" || kind === "parameters"
        ? f.startsWith(kind === "scenario" ? "scenario" : `parameter '${name}'`)
        : f.startsWith(`${kind} '${name}'`),
    );
  }

  groups() {
    const data = this.model.data,
      found = [this.row([], this.titled(data.name || "model"), "model", [])];
    for (const [key, title] of GROUPS) {
      const x = data[key];
      if (x === undefined) continue;
      if (key === "scenario") {
        found.push(this.row(["scenario"], title, "group", this.faultsOf("scenario", "")));
        continue;
      }
      const list = Array.isArray(x),
        count = list ? x.length : Object.keys(x).length;
      if (!count) continue;
      const head = this.row(null, `${title} `, "group", []);
      head.append(make("span", { className: "count", textContent: count }));
      head.tabIndex = 0;
      head.role = "button";
      head.ariaExpanded = String(!this.folded.has(key));
      head.dataset.fold = key;
      head.onkeydown = (e) => {
        if (e.key === "Enter") {
          head.onclick();
          const again = this.box.querySelector(`[data-fold="${key}"]`);
          if (again) again.focus();
        }
      };
      head.onclick = () => {
        this.folded.has(key) ? this.folded.delete(key) : this.folded.add(key);
        this.show(this.model, this.schema);
      };
      head.classList.toggle("folded", this.folded.has(key));
      found.push(head);
      if (this.folded.has(key)) continue;
      if (key === "parameters")
        found.push(...Object.entries(x).map(([name, value]) => this.slider(name, value)));
      else if (list)
        found.push(
          ...x.map((row, k) =>
            this.row(
              [key, k],
              row.name || `${key} ${k + 1}`,
              "leaf",
              this.faultsOf(key, row.name),
              key === "joint" || key === "load" || key === "loop" ? row.kind : "",
            ),
          ),
        );
      else
        found.push(...Object.entries(x).map(([name]) => this.row([key, name], name, "leaf", [])));
    }
    return found;
  }
  titled(text) {
    return text;
  }
  row(path, text, style, faults, detail = "") {
    const row = make(
      "div",
      { className: `node ${style}`, tabIndex: path ? 0 : -1 },
      make("span", { className: "label", textContent: text }),
    );
    if (detail) row.append(make("span", { className: "detail", textContent: detail }));
    if (faults.length) {
      row.classList.add("faulty");
      row.title = faults.join("\n");
    }
    if (path) {
      row.classList.toggle(
        "chosen",
        this.chosen !== null && JSON.stringify(this.chosen) === JSON.stringify(path),
      );
      row.onclick = () => this.choose(path);
      row.onkeydown = (e) => {
        if (e.key === "Enter") this.choose(path);
      };
      row.dataset.path = JSON.stringify(path);
    }
    return row;
  }
  choose(path) {
    this.chosen = path;
    this.show(this.model, this.schema);
    this.on.chosen(this.name);
  }
  chooseName(name) {
    for (const kind of ["body", "joint", "loop", "load", "frame"]) {
      const k = (this.model.data[kind] || []).findIndex((row) => row.name === name);
      if (k >= 0) {
        this.choose([kind, k]);
        return;
      }
    }
    this.chosen = null;
    this.show(this.model, this.schema);
    this.on.chosen("");
  }
  slider(name, text) {
    // a parameter: its name, a slider around where it was when it was touched first, its text with unit
    const x = this.model.parameters[name],
      row = make(
        "div",
        { className: "node parameter" },
        make("span", {
          className: "label",
          textContent: name,
          title:
            this.model.units && this.model.units[name]
              ? `${name}, in ${this.model.units[name]}`
              : name,
        }),
      );
    this.spans = this.spans || {};
    if (x !== undefined) {
      const span = this.spans[name],
        fits = span && x >= span[0] - 1e-12 && x <= span[1] + 1e-12;
      if (!fits) {
        const size = Math.abs(x) || 1,
          step = 10 ** Math.floor(Math.log10(size / 100)),
          ends = x ? [0.2 * x, 2.5 * x].sort((a, b) => a - b) : [-1, 1];
        this.spans[name] = [
          step * Math.floor(ends[0] / step),
          step * Math.ceil(ends[1] / step),
          step,
        ];
      }
      const [low, high, step] = this.spans[name],
        range = make("input", {
          type: "range",
          min: low,
          max: high,
          step,
          value: x,
          ariaLabel: name,
        });
      range.oninput = () => {
        this.sliding = name;
        this.on.parameter(name, Number(range.value));
      };
      range.onchange = () => {
        this.sliding = null;
      };
      row.append(range);
    }
    const typed = make("input", { type: "text", value: text, ariaLabel: `${name}, value` });
    typed.onchange = () => this.on.set(["parameters", name], typed.value);
    const unit = this.model.units && this.model.units[name];
    if (unit && /^[-+0-9.eE\s]*$/.test(String(text)))
      row.append(make("span", { className: "detail", textContent: unit.replaceAll("*", " ") }));
    row.append(
      typed,
      make("button", {
        className: "quiet",
        textContent: "×",
        title: `remove ${name}`,
        onclick: () => this.on.remove(["parameters", name]),
      }),
    );
    if (this.faultsOf("parameters", name).length) row.classList.add("faulty");
    row.dataset.name = name;
    return row;
  }
  refresh(model) {
    // while a slider is held, nothing is made anew: texts follow
    this.model = model;
    for (const row of this.box.querySelectorAll(".parameter")) {
      const typed = row.querySelector("input[type=text]");
      if (document.activeElement !== typed) typed.value = model.data.parameters[row.dataset.name];
    }
  }

  // ---------------------------------------------------------------- values of what is selected
  inspect() {
    const path = this.chosen,
      box = this.values;
    if (path === null) {
      box.replaceChildren(
        make("p", {
          className: "faint",
          textContent: "Select a part of the model to see and change its values.",
        }),
      );
      return;
    }
    const top = path.length === 0,
      kind = top ? "model" : path[0],
      thing = this.at(path),
      rows = [];
    const title = top ? "Model" : thing && thing.name ? `${kind} ${thing.name}` : path.join(" ");
    const head = make("div", { className: "inspector-head" }, make("b", { textContent: title }));
    if (path.length === 2)
      head.append(
        make("button", {
          className: "quiet",
          textContent: "Delete",
          onclick: () => {
            this.chosen = null;
            this.on.remove(path);
          },
        }),
      );
    rows.push(head);
    const faults = top ? [] : this.faultsOf(kind, thing && thing.name);
    for (const f of faults) rows.push(make("p", { className: "fault", textContent: f }));
    if (thing !== null && typeof thing === "object" && !Array.isArray(thing)) {
      for (const [key, value] of Object.entries(thing)) {
        if (
          top &&
          ((typeof value === "object" && !Array.isArray(value)) ||
            (Array.isArray(value) && typeof value[0] === "object"))
        )
          continue;
        rows.push(...this.field([...path, key], key, value, kind));
      }
      rows.push(this.more(path, kind, thing));
    } else rows.push(...this.field(path, String(path[path.length - 1]), thing, kind));
    box.replaceChildren(...rows);
  }
  field(path, key, value, kind, depth = 0) {
    if (value !== null && typeof value === "object" && !Array.isArray(value)) {
      const head = make(
        "div",
        { className: "sub" },
        make("span", { textContent: key }),
        make("button", {
          className: "quiet",
          textContent: "×",
          title: `remove ${key}`,
          onclick: () => this.on.remove(path),
        }),
      );
      head.style.paddingLeft = `${12 * depth}px`;
      return [
        head,
        ...Object.entries(value).flatMap(([k, x]) =>
          this.field([...path, k], k, x, kind, depth + 1),
        ),
      ];
    }
    const row = make(
        "div",
        { className: "field" },
        make("label", { textContent: key, title: key }),
      ),
      cells = make("div", { className: "cells" });
    row.firstChild.style.paddingLeft = `${12 * depth}px`;
    const flat =
      Array.isArray(value) &&
      value.length &&
      value.length <= 6 &&
      value.every((x) => typeof x !== "object");
    if (flat) value.forEach((x, k) => cells.append(this.input([...path, k], key, x, kind)));
    else if (Array.isArray(value)) cells.append(this.input(path, key, toml(value), kind));
    else cells.append(this.input(path, key, value, kind));
    const unit = this.unit(key, kind);
    row.append(cells, make("span", { className: "unit", textContent: unit }));
    if (key !== "name")
      row.append(
        make("button", {
          className: "quiet",
          textContent: "×",
          title: `remove ${key}`,
          onclick: () => this.on.remove(path),
        }),
      );
    return [row];
  }
  unit(key, kind) {
    const load = kind === "load" && this.schema.loads[this.at(this.chosen).kind];
    const own = load && load.find((k) => k.name === key);
    return own ? own.unit : this.schema.units[key] || "";
  }
  choices(key, kind) {
    const fixed = this.schema.choices[`${kind}.${key}`];
    if (fixed) return fixed;
    const load = kind === "load" && this.schema.loads[this.at(this.chosen).kind],
      own = load && load.find((k) => k.name === key);
    if (own && own.words.length) return own.words;
    if (kind !== "scenario" && REFERENCES[key] && this.model.names[REFERENCES[key]])
      return this.model.names[REFERENCES[key]];
    return null;
  }
  input(path, key, value, kind) {
    if (typeof value === "boolean")
      return make("input", {
        type: "checkbox",
        checked: value,
        onchange: (e) => this.on.set(path, String(e.target.checked)),
        ariaLabel: key,
      });
    const options = this.choices(key, kind);
    if (options) {
      const all = options.includes(value) ? options : [value, ...options];
      const select = make(
        "select",
        { ariaLabel: key, onchange: (e) => this.on.set(path, e.target.value) },
        ...all.map((x) => make("option", { textContent: x, selected: x === value })),
      );
      return select;
    }
    const box = make("input", {
      type: "text",
      value: String(value),
      ariaLabel: key,
      spellcheck: false,
    });
    box.onchange = () => {
      if (key === "name" && path.length === 3) this.on.rename(path.slice(0, 2), box.value);
      else this.on.set(path, box.value);
    };
    return box;
  }
  more(path, kind, thing) {
    // keys that are not there yet
    const load = kind === "load" && this.schema.loads[thing.kind];
    const keys =
      kind === "model"
        ? ["name", "gravity", "planar"]
        : load
          ? load.map((k) => k.name)
          : this.schema.tables[kind] || [];
    const left = keys.filter((k) => !(k in thing));
    if (!left.length) return make("span");
    const select = make(
      "select",
      { ariaLabel: "add a value" },
      make("option", { textContent: "add a value ...", value: "" }),
      ...left.map((k) => make("option", { textContent: k })),
    );
    select.onchange = () => {
      const first = {
        at: "[0, 0, 0]",
        gravity: "[0, -9.81, 0]",
        child_at: "[0, 0, 0]",
        axis: "[0, 0, 1]",
        limits: '{ lower = "-90 deg", upper = "90 deg" }',
        initial: "{ q = {} }",
        shapes: '[{ kind = "sphere", size = ["2 cm"] }]',
        planar: "true",
        com: "[0, 0, 0]",
        motion: "{}",
        rotate: '{ rpy = [0, 0, "30 deg"] }',
        plots: '["overview"]',
      }[select.value];
      this.on.set([...path, select.value], first || "0");
    };
    return make("div", { className: "field" }, select);
  }
}
function toml(x) {
  // a value in TOML's words
  if (Array.isArray(x)) return `[${x.map(toml).join(", ")}]`;
  if (x !== null && typeof x === "object")
    return `{ ${Object.entries(x)
      .map(([k, y]) => `${/^[\w-]+$/.test(k) ? k : JSON.stringify(k)} = ${toml(y)}`)
      .join(", ")} }`;
  return typeof x === "string" ? JSON.stringify(x) : String(x);
}
