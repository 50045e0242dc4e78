// Live: the connection of a page with catena, and hands on a stage: turning the view, grabbing bodies, handles of a selected body.
const element = (id) => document.getElementById(id);
function make(tag, properties = {}, ...children) {
  const e = Object.assign(document.createElement(tag), properties);
  e.append(...children);
  return e;
}

class Live {
  constructor(hear, state) {
    this.hear = hear;
    this.state = state;
    this.waiting = {};
    this.busy = {};
    this.connect();
  }
  connect() {
    const link = (this.link = window.openLink
      ? window.openLink()
      : new WebSocket(`ws://${location.host}${location.pathname}live`));
    link.binaryType = "arraybuffer";
    link.onopen = () => {
      this.busy = {};
      this.waiting = {};
      this.state(true);
    };
    link.onclose = () => {
      this.state(false);
      setTimeout(() => this.connect(), 1500);
    };
    link.onmessage = (e) => {
      const n = new DataView(e.data).getUint32(0, true),
        message = JSON.parse(new TextDecoder().decode(new Uint8Array(e.data, 4, n)));
      this.hear(message, e.data.slice(4 + n));
      for (const key of Object.keys(this.busy))
        if (this.busy[key].includes(message.kind)) this.done(key);
    };
  }
  send(message) {
    if (this.link.readyState === 1) this.link.send(JSON.stringify(message));
  }
  // the newest wish of its sort alone, the next when the last is answered by one of `until`
  wish(key, message, until) {
    if (this.busy[key]) this.waiting[key] = [message, until];
    else {
      this.busy[key] = until;
      this.send(message);
    }
  }
  done(key) {
    delete this.busy[key];
    const next = this.waiting[key];
    if (next) {
      delete this.waiting[key];
      this.wish(key, ...next);
    }
  }
}

// Hands on the canvas. `on`: { grab(body name, point on it, position, orientation), click(hit, event), draw() , canGrab() }
class Hands {
  constructor(stage, on) {
    this.stage = stage;
    this.on = on;
    this.held = null;
    const c = stage.canvas;
    c.addEventListener("pointerdown", (e) => this.down(e));
    c.addEventListener("pointermove", (e) => this.move(e));
    c.addEventListener("pointerup", (e) => this.up(e));
    c.addEventListener("pointercancel", (e) => this.up(e));
    c.addEventListener(
      "wheel",
      (e) => {
        e.preventDefault();
        stage.zoom(0.0012 * e.deltaY);
        on.draw();
      },
      { passive: false },
    );
    c.addEventListener("contextmenu", (e) => e.preventDefault());
  }
  at(e) {
    const box = this.stage.canvas.getBoundingClientRect();
    return [e.clientX - box.left, e.clientY - box.top];
  }
  down(e) {
    const s = this.stage,
      [x, y] = this.at(e);
    s.canvas.setPointerCapture(e.pointerId);
    this.start = [x, y];
    this.moved = false;
    if (this.on.press && this.on.press(e, x, y)) {
      this.held = { sort: "own" };
      return;
    }
    const hit = e.button === 0 && !e.shiftKey ? s.pick(x, y) : null;
    this.hit = hit;
    if (hit && hit.id >= 60000) this.held = this.handle(hit.id - 60000, x, y);
    else if (hit && hit.part && this.on.canGrab() && s.header.bodies[hit.part.body] !== "ground") {
      const body = hit.part.body,
        inverse = this.local(s.at[body], hit.point);
      this.held = { sort: "body", body, point: inverse, plane: hit.point };
    } else this.held = { sort: e.shiftKey || e.button ? "pan" : "turn" };
  }
  local(X, p) {
    const d = [p[0] - X[12], p[1] - X[13], p[2] - X[14]];
    return [0, 1, 2].map((i) => X[4 * i] * d[0] + X[4 * i + 1] * d[1] + X[4 * i + 2] * d[2]);
  }
  move(e) {
    const s = this.stage,
      [x, y] = this.at(e),
      h = this.held;
    if (!h) {
      if (this.on.hover) this.on.hover(x, y, e);
      return;
    }
    if (Math.hypot(x - this.start[0], y - this.start[1]) > 3) this.moved = true;
    if (h.sort === "own") {
      this.on.drag(e, x, y);
      return;
    }
    if (!this.moved) return;
    if (h.sort === "turn") {
      s.turn(e.movementX, e.movementY);
      this.on.draw();
    }
    if (h.sort === "pan") {
      s.pan(e.movementX, e.movementY);
      this.on.draw();
    }
    if (h.sort === "body") {
      const p = s.onPlane(x, y, h.plane, s.matrices().z);
      if (p) {
        this.pulling = p;
        this.on.grab(s.header.bodies[h.body], h.point, p, null);
      }
    }
    if (h.sort === "axis") {
      const t = this.alongAxis(h, x, y);
      this.on.grab(h.name, [0, 0, 0], V.add(h.from, h.axis, t - h.t0), h.R);
    }
    if (h.sort === "ring") {
      const a = this.angle(h, x, y);
      this.on.grab(h.name, [0, 0, 0], h.from, this.spun(h.axis, a - h.a0, h.R));
    }
  }
  up(e) {
    const h = this.held;
    this.held = null;
    this.pulling = null;
    if (h && h.sort === "own") {
      this.on.release(e, ...this.at(e));
      return;
    }
    if (h && !this.moved && this.on.click) this.on.click(this.hit, e);
    this.on.draw();
  }

  // ---------------------------------------------------------------- handles: three arrows and three rings at the selected body
  handles(body) {
    const s = this.stage,
      X = s.at[body],
      o = [X[12], X[13], X[14]],
      size = 0.13 * s.camera.distance;
    this.body = body;
    this.origin = o;
    this.size = size;
    const axes = [
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 1],
      ],
      colours = [
        [0.84, 0.22, 0.18, 1],
        [0.18, 0.62, 0.25, 1],
        [0.16, 0.4, 0.86, 1],
      ];
    return axes.flatMap((a, k) => {
      const x = axes[(k + 1) % 3],
        y = axes[(k + 2) % 3],
        F = (r) => M4.frame(V.scale(x, r), V.scale(y, r), V.scale(a, r), o);
      return [
        { shape: "handle", at: F(size), colour: colours[k], id: 60000 + k },
        { shape: "ring", at: F(0.72 * size), colour: colours[k], id: 60003 + k },
      ];
    });
  }
  handle(number, x, y) {
    const axis = [0, 1, 2].map((i) => (i === number % 3 ? 1 : 0)),
      X = this.stage.at[this.body];
    const R = [0, 1, 2].flatMap((i) => [X[i], X[4 + i], X[8 + i]]);
    const h = {
      sort: number < 3 ? "axis" : "ring",
      axis,
      from: this.origin,
      name: this.stage.header.bodies[this.body],
      R,
    };
    if (number < 3) h.t0 = this.alongAxis(h, x, y);
    else h.a0 = this.angle(h, x, y);
    return h;
  }
  alongAxis(h, x, y) {
    // the point of the axis nearest to the mouse's ray
    const [p, d] = this.stage.ray(x, y),
      w = V.add(h.from, p, -1),
      b = V.dot(h.axis, d),
      det = 1 - b * b;
    return det < 1e-4 ? 0 : (b * V.dot(d, w) - V.dot(h.axis, w)) / det;
  }
  angle(h, x, y) {
    const p = this.stage.onPlane(x, y, h.from, h.axis);
    if (!p) return h.a0 || 0;
    const k = h.axis.indexOf(1),
      d = V.add(p, h.from, -1);
    return Math.atan2(d[(k + 2) % 3], d[(k + 1) % 3]);
  }
  spun(axis, angle, R) {
    const c = Math.cos(angle),
      s = Math.sin(angle),
      [x, y, z] = axis,
      k = 1 - c;
    const T = [
      c + x * x * k,
      x * y * k - z * s,
      x * z * k + y * s,
      y * x * k + z * s,
      c + y * y * k,
      y * z * k - x * s,
      z * x * k - y * s,
      z * y * k + x * s,
      c + z * z * k,
    ];
    return [0, 1, 2].flatMap((i) =>
      [0, 1, 2].map((j) => T[3 * i] * R[j] + T[3 * i + 1] * R[3 + j] + T[3 * i + 2] * R[6 + j]),
    );
  }
}
const short = (y, digits = 4) =>
  Math.abs(y) < 1e-12 ? "0" : String(Number(y.toPrecision(digits)));
