// Plots of runs: the newest in colour, those that were kept dashed and pale beside it.
const SHADES = [
  "#0072b2",
  "#d55e00",
  "#009e73",
  "#cc79a7",
  "#e69f00",
  "#56b4e9",
  "#8a8a8a",
  "#8c564b",
];
class Plots {
  constructor(box, picker, on) {
    this.box = box;
    this.picker = picker;
    this.on = on;
    this.run = null;
    this.kept = [];
    this.chosen = null;
    this.view = null; // the times that are shown; null for all
    this.wheel = false; // whether the wheel zooms without the Ctrl key
  }
  take(run) {
    const first = !this.run;
    this.run = run;
    const known = new Set(run.series.map((s) => `${s.group}/${s.name}`));
    if (this.chosen) this.chosen = this.chosen.filter((k) => known.has(k));
    if (!this.chosen || !this.chosen.length) this.chosen = this.usual();
    this.menu();
    this.draw();
    return first;
  }
  usual() {
    const q = this.run.series.filter((s) => s.group === "coordinates").slice(0, 4),
      e = this.run.series.filter((s) => s.group === "energy" && s.name === "total");
    return [...q, ...e].map((s) => `${s.group}/${s.name}`);
  }
  keep() {
    if (this.run) {
      this.kept = [...this.kept, this.run].slice(-4);
      this.draw();
      this.menu();
    }
  }
  forget() {
    this.kept = [];
    this.draw();
    this.menu();
  }
  menu() {
    const groups = [...new Set(this.run.series.map((s) => s.group))];
    this.picker.replaceChildren(
      ...groups.flatMap((g) => [
        make("b", { textContent: g }),
        ...this.run.series
          .filter((s) => s.group === g)
          .map((s) => {
            const key = `${g}/${s.name}`,
              box = make("input", { type: "checkbox", checked: this.chosen.includes(key) });
            box.onchange = () => {
              this.chosen = box.checked
                ? [...this.chosen, key]
                : this.chosen.filter((k) => k !== key);
              this.draw();
            };
            return make("label", {}, box, `${s.name} (${s.unit})`);
          }),
      ]),
    );
  }
  draw(now = null) {
    if (!this.run) return;
    if (now !== null) this.now = now;
    const groups = [...new Set(this.chosen.map((k) => k.split("/")[0]))].map((g) => [
      g,
      this.run.series.filter((s) => s.group === g && this.chosen.includes(`${g}/${s.name}`)),
    ]);
    const panels = groups.flatMap(([g, list]) =>
      [...new Set(list.map((s) => s.unit))].map((u) => [g, u, list.filter((s) => s.unit === u)]),
    );
    while (this.box.children.length > panels.length) this.box.lastChild.remove();
    while (this.box.children.length < panels.length) {
      const c = make("canvas", { className: "plot" });
      c.onpointerdown = (e) => {
        c.setPointerCapture(e.pointerId);
        this.seek(c, e);
      };
      c.onpointermove = (e) => {
        if (e.buttons) this.seek(c, e);
      };
      c.onwheel = (e) => this.zoom(c, e);
      c.ondblclick = () => {
        this.view = null;
        this.draw();
      };
      this.box.append(c);
    }
    panels.forEach(([g, unit, list], k) => this.panel(this.box.children[k], g, unit, list));
  }
  // the wheel widens or narrows the times that are shown, about the one under the pointer
  zoom(c, e) {
    if (!c.span || !(e.ctrlKey || this.wheel)) return;
    e.preventDefault();
    const box = c.getBoundingClientRect(),
      t = c.span[0] + ((e.clientX - box.left - 50) / (box.width - 62)) * (c.span[1] - c.span[0]),
      k = Math.exp(0.0015 * e.deltaY);
    this.view = [t - k * (t - c.span[0]), t + k * (c.span[1] - t)];
    this.draw();
  }
  seek(c, e) {
    if (!c.span) return;
    const box = c.getBoundingClientRect();
    this.on.seek(
      c.span[0] + ((e.clientX - box.left - 50) / (box.width - 62)) * (c.span[1] - c.span[0]),
    );
  }
  values(run, s) {
    const k = run.series.findIndex((x) => x.group === s.group && x.name === s.name);
    return k < 0 ? null : run.numbers.subarray((k + 1) * run.points, (k + 2) * run.points);
  }
  panel(c, group, unit, list) {
    const dense = window.devicePixelRatio || 1,
      w = c.clientWidth,
      h = c.clientHeight,
      p = c.getContext("2d");
    if (c.width !== Math.round(w * dense) || c.height !== Math.round(h * dense)) {
      c.width = Math.round(w * dense);
      c.height = Math.round(h * dense);
    }
    p.setTransform(dense, 0, 0, dense, 0, 0);
    p.clearRect(0, 0, w, h);
    const runs = [...this.kept, this.run],
      ends = [
        Math.min(...runs.map((r) => r.numbers[0])),
        Math.max(...runs.map((r) => r.numbers[r.points - 1])),
      ];
    const seen = this.view && this.view[1] - this.view[0] < ends[1] - ends[0],
      [first, last] = seen ? this.view : ends;
    let low = Infinity,
      high = -Infinity;
    for (const r of runs)
      for (const s of list) {
        const y = this.values(r, s);
        if (y)
          y.forEach((v, k) => {
            if (seen && (r.numbers[k] < first || r.numbers[k] > last)) return;
            if (v < low) low = v;
            if (v > high) high = v;
          });
      }
    if (!(high > low)) {
      const m = Math.abs(high) || 1;
      low = (Number.isFinite(low) ? low : 0) - 0.1 * m;
      high = low + 0.2 * m;
    }
    const size = Math.max(Math.abs(low), Math.abs(high));
    if (high - low < 1e-5 * size) {
      low -= 0.05 * size;
      high += 0.05 * size;
    }
    const pad = 0.06 * (high - low);
    low -= pad;
    high += pad;
    c.span = [first, last];
    const X = (t) => 50 + ((w - 62) * (t - first)) / (last - first || 1),
      Y = (y) => h - 20 - ((h - 42) * (y - low)) / (high - low);
    p.font = "11px system-ui, sans-serif";
    p.textBaseline = "middle";
    p.lineWidth = 1;
    for (const y of ticks(low, high, 4)) {
      p.strokeStyle = tint("grid");
      p.beginPath();
      p.moveTo(50, Y(y));
      p.lineTo(w - 12, Y(y));
      p.stroke();
      p.fillStyle = tint("faint");
      p.textAlign = "right";
      p.fillText(short(y, 4), 45, Y(y));
    }
    p.textAlign = "center";
    for (const t of ticks(first, last, 6)) p.fillText(`${short(t)} s`, X(t), h - 8);
    let x = 50;
    const whole =
        p.measureText(`${group}, ${unit}`).width +
        list.reduce((s, y) => s + p.measureText(y.name).width + 30, 14),
      title = whole < w - 58 ? `${group}, ${unit}` : unit;
    p.textAlign = "left";
    p.fillStyle = tint("ink");
    p.fillText(title, x, 10);
    x += p.measureText(title).width + 14;
    list.forEach((s, k) => {
      const colour = SHADES[k % SHADES.length];
      for (const r of this.kept) this.line(p, r, s, X, Y, colour, [5, 4], 0.45);
      this.line(p, this.run, s, X, Y, colour, [], 1);
      if (x + 16 + p.measureText(s.name).width < w - 4) {
        p.fillStyle = colour;
        p.fillRect(x, 9, 12, 3);
        p.fillStyle = tint("ink");
        p.fillText(s.name, x + 16, 10);
        x += p.measureText(s.name).width + 30;
      }
    });
    if (this.now !== undefined) {
      p.strokeStyle = tint("faint");
      p.lineWidth = 1;
      p.setLineDash([]);
      p.beginPath();
      p.moveTo(X(this.now), 20);
      p.lineTo(X(this.now), h - 20);
      p.stroke();
    }
  }
  line(p, run, s, X, Y, colour, dashes, alpha) {
    const y = this.values(run, s);
    if (!y) return;
    p.save();
    p.beginPath();
    p.rect(50, 0, p.canvas.clientWidth - 62, p.canvas.clientHeight);
    p.clip();
    p.globalAlpha = alpha;
    p.strokeStyle = colour;
    p.lineWidth = 1.6;
    p.setLineDash(dashes);
    p.beginPath();
    for (let k = 0; k < run.points; k++)
      k ? p.lineTo(X(run.numbers[k]), Y(y[k])) : p.moveTo(X(run.numbers[k]), Y(y[k]));
    p.stroke();
    p.restore();
  }
}
function ticks(low, high, count) {
  const raw = (high - low) / count,
    power = 10 ** Math.floor(Math.log10(raw)),
    step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= raw),
    found = [];
  for (let y = Math.ceil(low / step) * step; y <= high + 1e-9 * step; y += step)
    found.push(Math.abs(y) < 1e-9 * step ? 0 : y);
  return found;
}
