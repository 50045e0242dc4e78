// What is drawn of a mechanism on a canvas. It reads `film` (bodies, guides, ground, view, middle, size), `stage` and `pen`.
const element = (id) => document.getElementById(id);
const stage = element("stage"), pen = stage.getContext("2d");
const colours = ["#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5a5a5a"];
let view;

// ---------------------------------------------------------------- vectors
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const mix = (a, b, s) => a.map((x, k) => x + s * (b[k] - x));
function turned(axis, angle, v) {  // Rodrigues
  const c = Math.cos(angle), s = Math.sin(angle), k = dot(axis, v) * (1 - c), w = cross(axis, v);
  return v.map((x, i) => x * c + w[i] * s + axis[i] * k);
}
function rotated(q, v) {  // by a unit quaternion, scalar first
  const u = [q[1], q[2], q[3]], t = cross(u, v).map((x) => 2 * x);
  return add(add(v, t.map((x) => x * q[0])), cross(u, t));
}

const placed = (pose, point) => pose ? add(pose.p, pose.turn(point)) : point;

// ---------------------------------------------------------------- the page
function look() {
  view = { right: film.view.right, up: film.view.up, zoom: 1, shift: [0, 0] };
}
function flat(point) {
  const d = point.map((x, k) => x - film.middle[k]), scale = pixels();
  return [stage.clientWidth / 2 + view.shift[0] + scale * dot(d, view.right),
          stage.clientHeight / 2 + view.shift[1] - scale * dot(d, view.up)];
}
const pixels = () => view.zoom * 0.88 * Math.min(stage.clientWidth / film.size[0], stage.clientHeight / film.size[1]);
function hull(points) {  // Andrew's chain
  const p = points.slice().sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const side = (o, a, b) => (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
  const half = (list) => list.reduce((h, q) => {
    while (h.length > 1 && side(h[h.length - 2], h[h.length - 1], q) <= 0) h.pop();
    h.push(q);
    return h;
  }, []).slice(0, -1);
  return half(p).concat(half(p.reverse()));
}
function line(points, colour, width, dashes) {
  pen.beginPath();
  points.forEach((p, k) => k ? pen.lineTo(...p) : pen.moveTo(...p));
  pen.strokeStyle = colour; pen.lineWidth = width; pen.setLineDash(dashes || []); pen.lineCap = pen.lineJoin = "round";
  pen.stroke();
}
function disc(at, radius, colour) {
  pen.beginPath(); pen.arc(at[0], at[1], radius, 0, 2 * Math.PI); pen.fillStyle = colour; pen.fill();
}
const shade = (colour, alpha) => {
  const [r, g, b] = colour.length ? colour.map((x) => Math.round(255 * x)) : [90, 115, 140];
  return `rgba(${r},${g},${b},${alpha})`;
};

function clear() {
  const dense = window.devicePixelRatio || 1, w = stage.clientWidth, h = stage.clientHeight;
  if (stage.width !== Math.round(w * dense) || stage.height !== Math.round(h * dense)) {
    stage.width = Math.round(w * dense); stage.height = Math.round(h * dense);
  }
  pen.setTransform(dense, 0, 0, dense, 0, 0);
  pen.clearRect(0, 0, w, h);
}
function paint(at) {  // every body at its pose, those behind first
  const towards = cross(view.right, view.up);
  const order = film.bodies.map((_, b) => b).sort((a, b) => dot(at[a].p, towards) - dot(at[b].p, towards));
  for (const b of order) {
    for (const solid of film.bodies[b].solids) {
      if (solid.radius) { disc(flat(placed(at[b], solid.corners[0])), solid.radius * pixels(), shade(solid.colour, 0.9)); continue; }
      const edge = hull(solid.corners.map((p) => flat(placed(at[b], p))));
      pen.beginPath(); edge.forEach((p, k) => k ? pen.lineTo(...p) : pen.moveTo(...p)); pen.closePath();
      pen.fillStyle = shade(solid.colour, 0.25); pen.fill();
      pen.strokeStyle = shade(solid.colour, 0.5); pen.lineWidth = 0.8; pen.setLineDash([]); pen.stroke();
    }
  }
  for (const [start, a, end, c] of film.guides) line([flat(placed(at[start], a)), flat(placed(at[end], c))], "#8a8a8a", 1, [3, 4]);
  for (const b of order) for (const [p, q] of film.bodies[b].lines) line([flat(placed(at[b], p)), flat(placed(at[b], q))], "#0b4f80", 3);
  for (const b of order) for (const p of film.bodies[b].pins) disc(flat(placed(at[b], p)), 3.6, "#062f4f");
  film.ground.forEach((p) => triangle(flat(p)));
  triad();
}
function arrow([x, y], [u, v]) {  // of a contact force
  const d = Math.hypot(u - x, v - y) || 1, c = 7 * (u - x) / d, s = 7 * (v - y) / d;
  line([[x, y], [u, v]], "#c00000", 1.8);
  pen.beginPath(); pen.moveTo(u, v); pen.lineTo(u - c + 0.5 * s, v - s - 0.5 * c); pen.lineTo(u - c - 0.5 * s, v - s + 0.5 * c); pen.closePath();
  pen.fillStyle = "#c00000"; pen.fill();
  disc([x, y], 2.6, "#c00000");
}
function triangle([x, y]) {
  pen.beginPath(); pen.moveTo(x, y); pen.lineTo(x - 8, y + 13); pen.lineTo(x + 8, y + 13); pen.closePath();
  pen.fillStyle = "#ddd"; pen.fill(); pen.strokeStyle = "#222"; pen.lineWidth = 1.2; pen.setLineDash([]); pen.stroke();
}
function triad() {  // the ground's axes, lower left
  const o = [48, stage.clientHeight - 40];
  pen.fillStyle = "#8a8a8a"; pen.font = "12px system-ui, sans-serif"; pen.textAlign = "center"; pen.textBaseline = "middle";
  [[1, 0, 0], [0, 1, 0], [0, 0, 1]].forEach((axis, k) => {
    const d = [dot(axis, view.right), -dot(axis, view.up)];
    if (Math.hypot(...d) < 0.05) return;
    line([o, [o[0] + 28 * d[0], o[1] + 28 * d[1]]], "#8a8a8a", 1.2);
    pen.fillStyle = "#8a8a8a"; pen.fillText("xyz"[k], o[0] + 37 * d[0], o[1] + 37 * d[1]);
  });
}

// ---------------------------------------------------------------- turning, moving and zooming what is seen
function turn(e) {
  if (e.shiftKey || film.view.planar) view.shift = [view.shift[0] + e.movementX, view.shift[1] + e.movementY];
  else {
    view.right = turned(film.view.vertical, -0.008 * e.movementX, view.right);
    view.up = turned(film.view.vertical, -0.008 * e.movementX, view.up);
    view.up = turned(view.right, -0.008 * e.movementY, view.up);
  }
}
function zoom(e) {
  e.preventDefault();
  view.zoom = Math.min(50, Math.max(0.05, view.zoom * Math.exp(-0.0012 * e.deltaY)));
}
