// Grades answers to the lines of a worksheet in the page: reads plain notation and LaTeX, evaluates
// them at the states of the key, and compares values. It knows numbers, not results.
"use strict";

const FUNCTIONS = ["sin", "cos", "tan", "sqrt", "exp", "log", "sinh", "cosh", "tanh"];
const SIGNS = {
  "·": "*",
  "×": "*",
  "⋅": "*",
  "−": "-",
  "–": "-",
  "½": "(1/2)",
  "¼": "(1/4)",
  "¾": "(3/4)",
  "²": "^2",
  "³": "^3",
  "′": "'",
  "″": "''",
};
const GREEK =
  "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho . sigma tau upsilon phi chi psi omega".split(
    " ",
  );

class Unreadable extends Error {}

// --- from text to tokens
function plain(text) {
  let out = "";
  text = text.replace(/[·×⋅−–½¼¾²³′″]/g, (c) => SIGNS[c]);
  text = text.replace(/(?:np|numpy|math|sp|sympy)\.(?=[a-z])/g, "");
  text = text.normalize("NFD").replace(/([\u0307\u0308]+)([\u2080-\u2089]+)/g, "$2$1");
  for (const c of text) {
    const code = c.codePointAt(0);
    if (c === "\u0307") out = out.trimEnd() + "'";
    else if (c === "\u0308") out = out.trimEnd() + "''";
    else if (code >= 0x3b1 && code <= 0x3c9) out += ` ${GREEK[code - 0x3b1]}`;
    else if (code >= 0x2080 && code <= 0x2089) out += String(code - 0x2080);
    else out += c;
  }
  return out;
}

// LaTeX becomes plain notation; quantities are found by dots, letter and index
function fromLatex(text, key) {
  const skipped =
    /\\(?:left|right|[bB]igg?[lr]?|displaystyle|quad|qquad|[,;:! ])(?![a-zA-Z])|\\\\|&|\$|\\(?:begin|end)\{(?:align|equation|aligned|gather|split)\*?\}|\s+/y;
  const token = /\\[a-zA-Z]+|\d+\.?\d*|\.\d+|[\s\S]/y;
  const tokens = [];
  for (let at = 0; at < text.length;) {
    skipped.lastIndex = at;
    const skip = skipped.exec(text);
    if (skip && skip[0]) {
      at = skipped.lastIndex;
      continue;
    }
    token.lastIndex = at;
    tokens.push(token.exec(text)[0]);
    at = token.lastIndex;
  }
  let at = 0;
  const peek = () => (at < tokens.length ? tokens[at] : "");
  const take = () => tokens[at++] ?? "";
  const flat = (list) =>
    list
      .filter((x) => !["{", "}", "_", ",", "\\mathrm", "\\text", "\\mathit"].includes(x))
      .map((x) => x.replace(/^\\/, ""))
      .join("");
  function group() {
    if (peek() !== "{") return [take()];
    const out = [];
    let depth = 0;
    for (let x = take(); x; x = take()) {
      depth += (x === "{") - (x === "}");
      if (!depth) return out.slice(1);
      out.push(x);
    }
    throw new Unreadable("a '}' is missing");
  }
  function inner(list) {
    const kept = [tokens.splice(0, tokens.length, ...list), at];
    at = 0;
    const found = all();
    tokens.splice(0, tokens.length, ...kept[0]);
    at = kept[1];
    return found;
  }
  function argument() {
    if (peek() === "{") return inner(group());
    if (/^\d\d/.test(peek())) {
      const digit = tokens[at][0];
      tokens[at] = tokens[at].slice(1);
      return digit;
    }
    return piece();
  }
  function primes() {
    let n = 0;
    for (;;) {
      if (peek() === "'" || peek() === "\\prime") {
        take();
        n++;
      } else if (peek() === "^" && /^\^\{?(\\prime|')/.test(tokens.slice(at, at + 3).join(""))) {
        take();
        n += group().filter((x) => x !== "{" && x !== "}").length;
      } else return n;
    }
  }
  function mark() {
    let dots = 0,
      head = "",
      below = "";
    const x = take();
    if (x === "\\dot" || x === "\\ddot") {
      const braced = peek() === "{";
      if (braced) take();
      [dots, head, below] = mark();
      if (braced && take() !== "}") throw new Unreadable(`${x} stands above one quantity`);
      dots += x === "\\dot" ? 1 : 2;
    } else if (x === "{") {
      [dots, head, below] = mark();
      if (take() !== "}") throw new Unreadable("an index stands behind one quantity");
    } else if (["\\mathrm", "\\text", "\\mathit", "\\operatorname"].includes(x))
      head = flat(group());
    else head = x.replace(/^\\/, "");
    dots += primes();
    if (peek() === "_") {
      take();
      below = flat(group());
    }
    return [dots + primes(), head, below];
  }
  function quantity() {
    const [dots, head, below] = mark();
    if (head === "pi" && !dots && !below) return " pi ";
    const found = key.marks.find((m) => m[0] === dots && m[1] === head && m[2] === below);
    if (!found)
      throw new Unreadable(
        `there is no quantity ${head}${below && "_" + below}${"'".repeat(dots)}`,
      );
    return ` @${found[3]} `;
  }
  function braced() {
    let depth = 0;
    for (let k = at; k < tokens.length; k++) {
      depth += (tokens[k] === "{") - (tokens[k] === "}");
      if (!depth) return ["_", "'"].includes(tokens[k + 1]);
    }
    return false;
  }
  function piece() {
    const x = peek();
    if (x === "^") {
      take();
      return `^(${argument()})`;
    }
    if (x === "\\cdot" || x === "\\times") {
      take();
      return "*";
    }
    if (x === "{") return braced() ? quantity() : `(${inner(group())})`;
    if (/^\\[td]?frac$/.test(x)) {
      take();
      const from = at;
      const above = group(),
        below = group();
      const top = flat(above),
        bottom = flat(below);
      if (/^d(\^?2)?$/.test(top) && /^dt(\^?2)?$/.test(bottom)) return " d/dt ";
      const second = /^d\^?2/.test(top) && /^dt\^?2$/.test(bottom);
      if (/^d/.test(top) && /^dt(\^?2)?$/.test(bottom)) {
        let start = above[0] === "d" ? 1 : 4; // or \mathrm{d}
        if (above[start] === "^") start += above[start + 1] === "{" ? 4 : 2;
        if (start < above.length) {
          const kept = [tokens.splice(0, tokens.length, ...above.slice(start)), at];
          at = 0;
          const m = mark();
          tokens.splice(0, tokens.length, ...kept[0]);
          at = kept[1];
          const hit = key.marks.find(
            (k) => k[0] === m[0] + (second ? 2 : 1) && k[1] === m[1] && k[2] === m[2],
          );
          if (hit) return ` @${hit[3]} `;
        }
      }
      at = from;
      return `((${argument()})/(${argument()}))`;
    }
    if (x === "\\sqrt") {
      take();
      return `sqrt(${argument()})`;
    }
    if (x.startsWith("\\") && FUNCTIONS.includes(x.slice(1))) {
      take();
      let power = "";
      if (peek() === "^") {
        take();
        power = `^(${argument()})`;
        if (power.includes("-")) throw new Unreadable(`${x}^-1 has two meanings`);
      }
      return ` ${x.slice(1)}${power} `;
    }
    if (/^[a-zA-Z\\]/.test(x)) return quantity();
    return take() === "[" ? "(" : x === "]" ? ")" : x;
  }
  function all() {
    let out = "";
    while (at < tokens.length) out += piece();
    return out;
  }
  return all();
}

function tokensOf(text, key) {
  const found = [];
  const names = Object.keys(key.texts).sort((a, b) => b.length - a.length);
  const known = new Set(Object.values(key.texts));
  const bare = (w) => w.replace(/[_.]/g, "");
  // names with spaces or dots first
  for (const name of names)
    if (/[^\w']/.test(name)) {
      const shown = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
      text = text.replace(
        new RegExp(`(?<![\\w.@])${shown}(?![\\w'])`, "g"),
        ` @${key.texts[name]} `,
      );
    }
  const word = /d\s*\/\s*dt(?=\s*[([])|\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+|@?[A-Za-z_][\w']*|\*\*|\S/g;
  for (const piece of text.match(word) || []) {
    if (/^d\s*\/\s*dt$/.test(piece)) found.push({ kind: "rate" });
    else if (/^[\d.]/.test(piece)) found.push({ kind: "number", value: Number(piece) });
    else if (/^@/.test(piece)) found.push({ kind: "name", name: piece.slice(1) });
    else if (/^[A-Za-z_]/.test(piece)) found.push(...wordOf(piece, key, names, known, bare));
    else found.push({ kind: "sign", sign: { "**": "^", "[": "(", "]": ")" }[piece] ?? piece });
  }
  return found;
}

function wordOf(word, key, names, known, bare) {
  const one = (w) =>
    FUNCTIONS.includes(w)
      ? { kind: "function", name: w }
      : w === "pi"
        ? { kind: "number", value: Math.PI }
        : w === "e" && !(w in key.texts)
          ? { kind: "number", value: Math.E }
          : w in key.texts
            ? { kind: "name", name: key.texts[w] }
            : known.has(w)
              ? { kind: "name", name: w }
              : null;
  const whole = one(word);
  if (whole) return [whole];
  const alike = names.find((n) => bare(n) === bare(word) || bare(key.texts[n]) === bare(word));
  if (alike) return [{ kind: "name", name: key.texts[alike] }];
  // names written together: the fewest that make the word
  const spelt = [...FUNCTIONS, "pi", ...names, ...known];
  const best = [[]];
  for (let end = 1; end <= word.length; end++)
    for (const s of spelt)
      if (word.slice(0, end).endsWith(s) && best[end - s.length]) {
        const made = [...best[end - s.length], one(s)];
        if (!best[end] || made.length < best[end].length) best[end] = made;
      }
  if (best[word.length]) return best[word.length];
  throw new Unreadable(`there is no quantity "${word}" here`);
}

// --- tokens to a function of a state, with rates: state => [value, rate]
function parse(text, key) {
  if (!text.trim()) throw new Unreadable("the answer is empty");
  if (text.length > 4000) throw new Unreadable("the answer is too long");
  text = plain(text);
  if (text.includes("\\")) text = fromLatex(text, key);
  const tokens = tokensOf(text, key);
  let at = 0;
  const is = (sign) => tokens[at]?.kind === "sign" && tokens[at].sign === sign;
  function sum() {
    let a = is("-") || is("+") ? null : product();
    while (is("+") || is("-")) {
      const minus = tokens[at++].sign === "-";
      const b = product(),
        first = a;
      const s = minus ? -1 : 1;
      a = (x) => {
        const u = first ? first(x) : [0, 0],
          v = b(x);
        return [u[0] + s * v[0], u[1] + s * v[1]];
      };
    }
    return a;
  }
  const begins = () => at < tokens.length && (tokens[at].kind !== "sign" || is("("));
  function product() {
    let a = power();
    for (;;) {
      const divide = is("/");
      if (is("*") || divide) at++;
      else if (!begins()) return a;
      const b = power(),
        first = a;
      a = (x) => {
        const u = first(x),
          v = b(x);
        return divide
          ? [u[0] / v[0], (u[1] * v[0] - u[0] * v[1]) / (v[0] * v[0])]
          : [u[0] * v[0], u[1] * v[0] + u[0] * v[1]];
      };
    }
  }
  function raised(a) {
    if (!is("^")) return a;
    at++;
    const b = is("-") ? (at++, negative(power())) : power();
    return (x) => {
      const u = a(x),
        v = b(x);
      const value = Math.pow(u[0], v[0]);
      const rate =
        (u[1] ? v[0] * Math.pow(u[0], v[0] - 1) * u[1] : 0) +
        (v[1] ? value * Math.log(u[0]) * v[1] : 0);
      return [value, rate];
    };
  }
  const negative = (f) => (x) => f(x).map((y) => -y);
  function power() {
    if (is("-")) {
      at++;
      return negative(power());
    }
    return raised(atom());
  }
  function bracket() {
    if (!is("(")) throw new Unreadable("a '(' is missing");
    at++;
    const a = sum();
    if (!is(")")) throw new Unreadable("a ')' is missing");
    at++;
    return a;
  }
  function atom() {
    const t = tokens[at];
    if (!t) throw new Unreadable("it ends too early");
    if (is("(")) return bracket();
    at++;
    if (t.kind === "number") return () => [t.value, 0];
    if (t.kind === "name")
      return (x) => [
        x(t.name),
        key.fixed.includes(t.name) ? 0 : key.rates[t.name] ? x(key.rates[t.name]) : NaN,
      ];
    if (t.kind === "rate") {
      const a = bracket();
      return (x) => [a(x)[1], NaN];
    }
    if (t.kind === "function") return applied(t.name);
    throw new Unreadable(`"${t.sign}" is not expected there`);
  }
  function applied(name) {
    let n = null;
    if (is("^")) {
      at++;
      if (is("-")) throw new Unreadable(`${name}^-1 may be 1/${name} or the inverse function`);
      n = is("(") ? bracket() : atom();
    }
    let a;
    if (is("(")) a = bracket();
    else {
      a = atom();
      if (tokens[at - 1].kind === "number" && tokens[at]?.kind === "name") {
        const b = atom(),
          first = a;
        a = (x) => {
          const u = first(x),
            v = b(x);
          return [u[0] * v[0], u[1] * v[0] + u[0] * v[1]];
        };
      }
    }
    const slope = {
      sin: Math.cos,
      cos: (u) => -Math.sin(u),
      tan: (u) => 1 / Math.cos(u) ** 2,
      sqrt: (u) => 0.5 / Math.sqrt(u),
      exp: Math.exp,
      log: (u) => 1 / u,
      sinh: Math.cosh,
      cosh: Math.sinh,
      tanh: (u) => 1 / Math.cosh(u) ** 2,
    }[name];
    const f = (x) => {
      const u = a(x);
      return [Math[name](u[0]), u[1] ? slope(u[0]) * u[1] : 0 * u[1]];
    };
    if (!n) return f;
    return (x) => {
      const u = f(x),
        v = n(x)[0];
      return [Math.pow(u[0], v), v * Math.pow(u[0], v - 1) * u[1]];
    };
  }
  const found = sum();
  if (at < tokens.length) throw new Unreadable(`"${tokens[at].sign ?? "?"}" is not expected there`);
  return found;
}

// --- values
function table(f, key, bases, ground) {
  const all = Object.values(key.symbols)[0];
  const count = bases ?? all.length;
  const out = [];
  for (let b = 0; b < count; b++)
    out.push(
      all[b].map((_, k) => {
        const own = (s) => key.symbols[s][b][k];
        const at = ground
          ? (s) =>
              s in key.ground
                ? key.ground[s].reduce((t, [sign, o]) => t + sign * own(o), 0)
                : own(s)
          : own;
        return f(at)[0];
      }),
    );
  return out;
}

function same(found, entry, key) {
  let any = false;
  for (let b = 0; b < key.random; b++)
    for (let k = 0; k < found[b].length; k++) {
      const right = entry.value[b][k];
      if (right === null) continue;
      any = true;
      const size = Math.max(entry.size[b][k], 1e-300);
      if (!(Math.abs(found[b][k] - right) <= key.tolerance * size)) return false;
    }
  return any;
}

// least squares by QR with columns scaled: c with sum c_i rows_i = own; null where there is none
function fitted(rows, own, tolerance) {
  const flat = [...rows.flat(), ...own];
  if (flat.some((x) => x === null || !Number.isFinite(x))) return null;
  if (own.every((x) => x === 0)) return rows.map(() => 0);
  const scaled = rows.map((r) => {
    const s = Math.max(...r.map(Math.abs)) || 1;
    return r.map((x) => x / s);
  });
  const Q = [],
    R = [],
    n = scaled.length;
  for (let i = 0; i < n; i++) {
    let v = [...scaled[i]];
    R.push(Array(n).fill(0));
    for (let twice = 0; twice < 2; twice++)
      for (let j = 0; j < i; j++) {
        const d = Q[j].reduce((t, x, k) => t + x * v[k], 0);
        R[j][i] += d;
        v = v.map((x, k) => x - d * Q[j][k]);
      }
    const norm = Math.hypot(...v);
    R[i][i] = norm > 1e-11 ? norm : 0;
    Q.push(R[i][i] ? v.map((x) => x / norm) : v.map(() => 0));
  }
  const y = Q.map((q) => q.reduce((t, x, k) => t + x * own[k], 0));
  const c = Array(n).fill(0);
  for (let i = n - 1; i >= 0; i--) {
    let t = y[i];
    for (let j = i + 1; j < n; j++) t -= R[i][j] * c[j];
    c[i] = R[i][i] ? t / R[i][i] : 0;
  }
  for (let k = 0; k < own.length; k++) {
    const parts = c.map((x, i) => x * scaled[i][k]);
    const total = parts.reduce((t, x) => t + x, 0);
    const reach = parts.reduce((t, x) => t + Math.abs(x), 0) + Math.abs(own[k]);
    if (Math.abs(total - own[k]) > tolerance * reach) return null;
  }
  const most = Math.max(...c.map(Math.abs));
  return c.map((x) => (Math.abs(x) > tolerance * most ? x : 0));
}

function combination(number, found, key) {
  const head = number.split(".")[0];
  const numbers = Object.keys(key.lines).filter(
    (n) => n.split(".")[0] === head && key.lines[n].row,
  );
  const c = found.map((own, b) =>
    fitted(
      numbers.map((n) => key.lines[n].entries[0].value[b]),
      own,
      key.tolerance,
    ),
  );
  const random = c.slice(0, key.random);
  if (random.some((x) => x === null)) return null;
  const most = (x) => Math.max(...x.map(Math.abs));
  const size = Math.max(...random.map(most));
  if (c.slice(key.random).some((x) => x !== null && most(x) <= key.vanishing * size)) return null;
  const path = c.slice(key.random, key.random + key.path).filter((x) => x !== null);
  const sizes = path.map(most).sort((a, b) => a - b);
  const usual =
    sizes.length % 2
      ? sizes[(sizes.length - 1) / 2]
      : (sizes[sizes.length / 2 - 1] + sizes[sizes.length / 2]) / 2;
  for (let k = 1; k < path.length; k++)
    if (
      path[k].every((x, i) => x * path[k - 1][i] <= 0) &&
      Math.max(most(path[k]), most(path[k - 1])) < usual
    )
      return null;
  const used = numbers.filter(
    (_, i) => Math.max(...random.map((x) => Math.abs(x[i]))) > key.tolerance,
  );
  if (used.length === 1) return used[0] === number ? "" : `this is line ${used[0]}`;
  return `this combines the lines ${used.slice(0, -1).join(", ")} and ${used[used.length - 1]}`;
}

function datum(found, entry, key) {
  const d = found.map((row, b) => row.map((x, k) => x - entry.value[b][k]));
  const spread = (list) => Math.max(...list) - Math.min(...list);
  const together = spread(d.slice(0, key.same).flat());
  const each = Math.max(...d.map(spread));
  const size = Math.max(...entry.value.flat().map(Math.abs), ...d.flat().map(Math.abs));
  return Math.max(together, each) <= key.tolerance * size;
}

// a sentence on the one or two terms that explain the difference; nothing is said where none do
function hints(found, entry, key) {
  const flat = (rows) => rows.slice(0, key.random).flat();
  const difference = flat(found).map((x, k) => x - flat(entry.value)[k]);
  const scale = Math.max(...flat(entry.size), 1e-300);
  const zero = (list) => list.every((x) => Math.abs(x) <= 1e-8 * scale);
  for (const [head, values] of entry.terms) {
    const term = flat(values);
    const what = head ? `the term of ${head}` : "the part without speeds, accelerations and forces";
    const at = term.findIndex((x) => Math.abs(x) > 1e-3 * scale);
    if (at < 0) continue;
    const ratio = difference[at] / term[at];
    if (!zero(difference.map((x, k) => x - ratio * term[k]))) continue;
    if (Math.abs(ratio + 1) < 1e-7) return [`${what} is missing`];
    if (Math.abs(ratio + 2) < 1e-7) return [`${what} has the wrong sign`];
    return [`${what} is ${Number((1 + ratio).toPrecision(7))} times what it should be`];
  }
  return [];
}

// the entries of a vector: commas or semicolons outside brackets, or the rows of a matrix
function entriesOf(text) {
  const matrix = /\\begin\{(?:[a-z]*matrix|array)\}(?:\{[clr]*\})?([\s\S]*)\\end\{/.exec(text);
  if (matrix) return matrix[1].split(/\\\\|&/).filter((x) => x.trim());
  text = text
    .replace(/\\(left|right)(?![a-zA-Z])/g, "")
    .replace(/\\[,;]\s*/g, (m) => (m[1] === ";" ? " " : " "));
  text = text
    .trim()
    .replace(/^\$|\$$/g, "")
    .trim();
  text = text.replace(/\s*(\^\{?\s*(T|\\top)\s*\}?|\.T)$/, "");
  text = text.replace(/^(?:\w+\.)?(?:array|Matrix)\s*\(([\s\S]*)\)$/, "$1");
  if (/^[([][\s\S]*[,;][\s\S]*[)\]]$/.test(text)) text = text.slice(1, -1);
  const parts = [""];
  let depth = 0;
  for (const c of text) {
    depth += "({".includes(c) - ")}".includes(c);
    if ((c === "," || c === ";") && depth === 0) parts.push("");
    else parts[parts.length - 1] += c;
  }
  return parts;
}

// --- the grade of an answer: {right, remarks}
function grade(key, number, text) {
  const line = key.lines[number];
  try {
    if (!line.row) text = text.slice(text.lastIndexOf("=") + 1);
    let parts = line.entries.length > 1 ? entriesOf(text) : [text];
    if (parts.length < line.entries.length && parts.length === line.shown.length)
      parts = line.entries.map((_, k) =>
        line.shown.includes(k) ? parts[line.shown.indexOf(k)] : "0",
      );
    if (parts.length !== line.entries.length)
      throw new Unreadable(`${line.entries.length} entries are asked, separated by commas`);
    const read = parts.map((part) => {
      const sides = line.row ? part.split("=") : [part];
      if (sides.length > 2) throw new Unreadable("an answer is an expression, or one equation");
      const f = sides.map((side) => parse(side, key));
      return f.length > 1 ? (x) => [f[0](x)[0] - f[1](x)[0], NaN] : f[0];
    });
    for (const ground of [false, true]) {
      if (ground && !Object.keys(key.ground).length) break;
      const said = ground
        ? ["an angle is measured from the ground here, on the worksheet from the body before"]
        : [];
      const found = read.map((f) => table(f, key, line.row ? null : key.random, ground));
      if (found.every((x, k) => same(x, line.entries[k], key)))
        return { right: true, remarks: said };
      if (line.datum && datum(found[0], line.entries[0], key))
        return { right: true, remarks: [...said, "it differs by a constant, which is as good"] };
      const how = line.row ? combination(number, found[0], key) : null;
      if (how !== null) return { right: true, remarks: [...said, how].filter(Boolean) };
      if (ground) continue;
      if (!line.row)
        for (const [other, known] of Object.entries(key.lines))
          if (
            other !== number &&
            !known.row &&
            known.entries.length === found.length &&
            found.some((x) => x.flat().some((y) => y !== 0)) &&
            found.every((x, k) => same(x, known.entries[k], key))
          )
            return { right: false, remarks: [`this is line ${other}, ${known.label}`] };
    }
    const found = read.map((f) => table(f, key, key.random, false));
    const remarks = found.flatMap((x, k) =>
      same(x, line.entries[k], key)
        ? []
        : hints(x, line.entries[k], key).map((h) => (found.length > 1 ? `${"xyz"[k]}: ${h}` : h)),
    );
    return {
      right: false,
      remarks: remarks.length ? remarks : ["its value differs in more than one term"],
    };
  } catch (why) {
    if (!(why instanceof Unreadable)) throw why;
    return { right: false, remarks: [`it cannot be read: ${why.message}`] };
  }
}

if (typeof module !== "undefined") module.exports = { grade };
