// Drawing a planar linkage by clicks: points become pins, lines between them links. In a plane of two of the ground's axes through its origin, seen from the front.
const PLANES = {
  "x-y": { u: [1, 0, 0], v: [0, 1, 0], n: [0, 0, 1] },
  "x-z": { u: [1, 0, 0], v: [0, 0, 1], n: [0, -1, 0] },
  "y-z": { u: [0, 1, 0], v: [0, 0, 1], n: [1, 0, 0] },
};
class Pencil {
  constructor(stage, canvas, on) {
    this.stage = stage;
    this.canvas = canvas;
    this.on = on;
    this.points = null;
    this.mouse = null;
    this.choose("x-y");
  }
  choose(name) {
    this.name = name;
    this.plane = PLANES[name];
    if (this.active) {
      this.points = [];
      this.face();
    }
  }
  usual() {
    // the plane that the model lies in, or an upright one
    const h = this.stage.header,
      near = (d) => Object.keys(PLANES).find((k) => Math.abs(V.dot(PLANES[k].n, d)) > 0.99);
    return (h.view.planar && near(h.view.towards)) || (Math.abs(h.up[1]) > 0.9 ? "x-y" : "x-z");
  }
  world(p) {
    return V.add(V.scale(this.plane.u, p[0]), this.plane.v, p[1]);
  }
  flat(p) {
    return [V.dot(p, this.plane.u), V.dot(p, this.plane.v)];
  }
  under(x, y) {
    const p = this.stage.onPlane(x, y, [0, 0, 0], this.plane.n);
    return p && this.flat(p);
  }
  get active() {
    return this.points !== null;
  }
  begin() {
    this.points = [];
    this.choose(this.usual());
  }
  face() {
    // look at the plane from its front
    const s = this.stage,
      { u, v, n } = this.plane;
    s.look(true);
    s.base = { f: n, r: u, up: v };
    Object.assign(s.camera, { yaw: 0, pitch: 0 });
    s.fit();
    if (!s.parts.length) {
      s.camera.middle = [0, 0, 0];
      s.camera.distance = 1.2;
    }
    s.hideFloor = true;
    this.on.draw();
  }
  cancel() {
    this.points = null;
    this.stage.hideFloor = false;
    this.paint();
    this.on.draw();
  }
  cell() {
    const m = this.stage.matrices(),
      want = 40 * m.perPixel,
      power = 10 ** Math.floor(Math.log10(want));
    return [1, 2, 5, 10].map((k) => k * power).find((s) => s >= want);
  }
  snap(x, y, free = false) {
    // { at: [x, y], pin }
    for (const pin of this.stage.header.pins || []) {
      const [px, py] = this.stage.screen(pin.at);
      if (Math.hypot(px - x, py - y) < 13) return { at: this.flat(pin.at), pin };
    }
    for (const [k, p] of this.points.entries())
      if (k < this.points.length - 1) {
        const [px, py] = this.stage.screen(this.world(p.at));
        if (Math.hypot(px - x, py - y) < 13) return { at: p.at, own: k };
      }
    const p = this.under(x, y);
    if (!p) return null;
    const s = this.cell() / 5;
    return { at: free ? p : p.map((v) => Math.round(v / s) * s) };
  }
  press(e) {
    return this.active && !e.button && !e.shiftKey;
  }
  release(e, x, y) {
    const p = this.snap(x, y, e.altKey),
      last = this.points[this.points.length - 1];
    if (!p || (last && Math.hypot(last.at[0] - p.at[0], last.at[1] - p.at[1]) < 1e-9)) {
      if (last && e.detail > 1) this.finish(true);
      return;
    }
    this.points.push(p);
    if (this.points.length > 1 && p.pin) this.finish(true);
    else this.paint();
    this.on.changed(this.points.length);
  }
  hover(x, y, e) {
    if (this.active) {
      this.mouse = this.snap(x, y, e.altKey);
      this.paint();
    }
  }
  finish(pinned) {
    if (!this.points || this.points.length < 2) return;
    const [first] = this.points,
      last = this.points[this.points.length - 1],
      anchor = (p) =>
        p.pin && p.pin.body !== "ground"
          ? { body: p.pin.body, point: p.pin.at }
          : { body: "ground" };
    this.on.finish({
      plane: this.name,
      points: this.points.map((p) => p.at),
      start: anchor(first),
      end: pinned ? anchor(last) : null,
    });
    this.cancel();
  }
  paint() {
    const c = this.canvas,
      s = this.stage,
      dense = window.devicePixelRatio || 1,
      w = s.canvas.clientWidth,
      h = s.canvas.clientHeight,
      p = c.getContext("2d");
    c.width = w * dense;
    c.height = h * dense;
    c.style.width = `${w}px`;
    c.style.height = `${h}px`;
    p.setTransform(dense, 0, 0, dense, 0, 0);
    p.clearRect(0, 0, w, h);
    if (!this.active) return;
    s.now = s.matrices();
    const cell = this.cell(),
      a = this.under(0, h),
      b = this.under(w, 0),
      words = this.name.split("-");
    p.font = "11px system-ui, sans-serif";
    p.lineWidth = 1;
    for (const [axis, other] of [
      [0, 1],
      [1, 0],
    ])
      for (let v = Math.ceil(a[axis] / cell) * cell; v < b[axis]; v += cell) {
        const q = [0, 0];
        q[axis] = v;
        q[other] = a[other];
        const from = s.screen(this.world(q));
        q[other] = b[other];
        const to = s.screen(this.world(q));
        p.strokeStyle = Math.abs(v) < 1e-9 ? tint("faint") : tint("line");
        p.beginPath();
        p.moveTo(...from);
        p.lineTo(...to);
        p.stroke();
        p.fillStyle = tint("faint");
        const text = short(1000 * v, 4);
        if (axis === 0) {
          if (from[0] > 60) p.fillText(text, from[0] + 4, h - 6);
        } else if (from[1] < h - 24) p.fillText(text, 4, from[1] - 4);
      }
    const [ox, oy] = s.screen([0, 0, 0]);
    p.fillText("mm", 4, h - 6);
    p.font = "bold 13px system-ui, sans-serif";
    p.fillStyle = tint("soft");
    p.fillText(words[0], w - 16, oy - 6);
    p.fillText(words[1], ox + 6, 14);
    for (const pin of s.header.pins || []) {
      p.strokeStyle = "#0072b2";
      p.lineWidth = 1.5;
      p.beginPath();
      p.arc(...s.screen(pin.at), 8, 0, 7);
      p.stroke();
    }
    const all = [...this.points, ...(this.mouse ? [this.mouse] : [])],
      at = all.map((q) => s.screen(this.world(q.at)));
    p.strokeStyle = "#0072b2";
    p.lineWidth = 5;
    p.lineCap = p.lineJoin = "round";
    p.globalAlpha = 0.85;
    p.beginPath();
    at.forEach((q, k) => (k ? p.lineTo(...q) : p.moveTo(...q)));
    p.stroke();
    p.globalAlpha = 1;
    at.forEach((q, k) => {
      p.beginPath();
      p.arc(...q, all[k].pin || all[k].own !== undefined ? 9 : 6, 0, 7);
      p.fillStyle = k < this.points.length ? "#06395a" : "#56b4e9";
      p.fill();
      p.strokeStyle = "#fff";
      p.lineWidth = 2;
      p.stroke();
    });
    if (
      this.mouse &&
      this.points.length &&
      Math.hypot(
        this.mouse.at[0] - this.points[this.points.length - 1].at[0],
        this.mouse.at[1] - this.points[this.points.length - 1].at[1],
      ) > 1e-9
    ) {
      const u = this.points[this.points.length - 1].at,
        v = this.mouse.at,
        d = Math.hypot(v[0] - u[0], v[1] - u[1]),
        q = at[at.length - 1];
      const text = `${short(1000 * d, 4)} mm, ${short((Math.atan2(v[1] - u[1], v[0] - u[0]) * 180) / Math.PI, 4)}°`;
      p.font = "12.5px system-ui, sans-serif";
      const wide = p.measureText(text).width;
      p.fillStyle = "#1d2733e0";
      p.beginPath();
      p.roundRect(q[0] + 12, q[1] - 30, wide + 12, 20, 5);
      p.fill();
      p.fillStyle = "#fff";
      p.fillText(text, q[0] + 18, q[1] - 16);
    }
  }
}
