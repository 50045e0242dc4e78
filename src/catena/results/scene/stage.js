// Stage: a scene in WebGL 2. Solids with light and shadow, ribbons for traces, arrows for forces, a floor with a grid, picking.
//
//   const stage = new Stage(canvas);  stage.load(header, blob);  stage.pose(poses);  stage.draw();
//
// header: what `wire.py` writes; blob: its triangles. poses: bodies x 12 numbers, the rows of X_WB.
"use strict";
const V = {
  dot: (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2],
  cross: (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]],
  add: (a, b, s = 1) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]],
  scale: (a, s) => [s * a[0], s * a[1], s * a[2]],
  length: (a) => Math.hypot(a[0], a[1], a[2]),
  unit: (a) => { const n = Math.hypot(a[0], a[1], a[2]) || 1; return [a[0] / n, a[1] / n, a[2] / n]; },
};
// 4 x 4 matrices, columns one after the other
const M4 = {
  times: (a, b) => { const c = new Float32Array(16); for (let j = 0; j < 4; j++) for (let i = 0; i < 4; i++) { let s = 0; for (let k = 0; k < 4; k++) s += a[4 * k + i] * b[4 * j + k]; c[4 * j + i] = s; } return c; },
  rows: (r, o = 0) => new Float32Array([r[o], r[o + 4], r[o + 8], 0, r[o + 1], r[o + 5], r[o + 9], 0, r[o + 2], r[o + 6], r[o + 10], 0, r[o + 3], r[o + 7], r[o + 11], 1]),
  point: (m, p) => [0, 1, 2].map((i) => m[i] * p[0] + m[4 + i] * p[1] + m[8 + i] * p[2] + m[12 + i]),
  frame: (x, y, z, p) => new Float32Array([...x, 0, ...y, 0, ...z, 0, ...p, 1]),
  perspective: (f, aspect, near, far) => new Float32Array([f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, 2 * far * near / (near - far), 0]),
  ortho: (w, h, near, far) => new Float32Array([1 / w, 0, 0, 0, 0, 1 / h, 0, 0, 0, 0, 2 / (near - far), 0, 0, 0, (far + near) / (near - far), 1]),
  seen: (x, y, z, p) => new Float32Array([x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, -V.dot(x, p), -V.dot(y, p), -V.dot(z, p), 1]),
};
function between(a, b, width) {  // the pose that brings z from 0 to 1 onto the line from a to b
  const d = V.add(b, a, -1), n = V.length(d) || 1e-9, z = V.scale(d, 1 / n);
  const side = Math.abs(z[0]) < 0.8 ? [1, 0, 0] : [0, 1, 0], x = V.unit(V.cross(side, z)), y = V.cross(z, x);
  return M4.frame(V.scale(x, width), V.scale(y, width), d, a);
}

const SOLID = [`#version 300 es
  layout(location=0) in vec3 point; layout(location=1) in vec3 normal;
  uniform mat4 model, camera, light; out vec3 n, w; out vec4 lit;
  void main() {
    vec4 p = model * vec4(point, 1.0); w = p.xyz; lit = light * p; gl_Position = camera * p;
    mat3 R = mat3(model); n = mat3(cross(R[1], R[2]), cross(R[2], R[0]), cross(R[0], R[1])) * normal;
  }`, `#version 300 es
  precision highp float; precision highp sampler2DShadow;
  in vec3 n, w; in vec4 lit; uniform vec4 colour; uniform vec3 eye, sun, up; uniform float glow; uniform sampler2DShadow shadow; uniform bool shadows; out vec4 seen;
  void main() {
    vec3 N = normalize(n), E = normalize(eye - w); if (dot(N, E) < 0.0) N = -N;
    float day = max(dot(N, sun), 0.0), shade = 1.0;
    if (shadows) { vec3 s = lit.xyz * 0.5 + 0.5; float b = 0.0012 + 0.003 * (1.0 - day);
      shade = 0.0; for (int i = 0; i < 4; i++) shade += 0.25 * texture(shadow, vec3(s.xy + (vec2(i & 1, i >> 1) - 0.5) / 1024.0, s.z - b)); }
    vec3 base = pow(colour.rgb, vec3(2.2)), sky = mix(vec3(0.30, 0.29, 0.28), vec3(0.52, 0.55, 0.60), 0.5 + 0.5 * dot(N, up));
    vec3 H = normalize(sun + E); float gloss = pow(max(dot(N, H), 0.0), 48.0), rim = pow(1.0 - max(dot(N, E), 0.0), 4.0);
    vec3 c = base * (sky + 0.86 * day * shade) + 0.20 * gloss * shade + 0.07 * rim + glow * vec3(0.20, 0.12, 0.02);
    seen = vec4(pow(c, vec3(1.0 / 2.2)) * colour.a, colour.a);
  }`];
const DEPTH = [`#version 300 es
  layout(location=0) in vec3 point; uniform mat4 model, light; void main() { gl_Position = light * model * vec4(point, 1.0); }`,
  `#version 300 es
  precision mediump float; void main() {}`];
const PICK = [`#version 300 es
  layout(location=0) in vec3 point; uniform mat4 model, camera; void main() { gl_Position = camera * model * vec4(point, 1.0); }`, `#version 300 es
  precision highp float; uniform float id; out vec4 seen;
  void main() { float z = gl_FragCoord.z * 65535.0, a = floor(id / 256.0), b = floor(z / 256.0);
    seen = vec4(a, id - 256.0 * a, b, z - 256.0 * b) / 255.0; }`];
const FLOOR = [`#version 300 es
  layout(location=0) in vec3 point; uniform mat4 model, camera, light; out vec3 w, o; out vec4 lit;
  void main() { vec4 p = model * vec4(point, 1.0); w = p.xyz; o = point; lit = light * p; gl_Position = camera * p; }`, `#version 300 es
  precision highp float; precision highp sampler2DShadow;
  in vec3 w, o; in vec4 lit; uniform float cell, reach; uniform sampler2DShadow shadow; uniform bool shadows; out vec4 seen;
  float lines(float size) { vec2 p = o.xy / size, d = fwidth(p), g = abs(fract(p - 0.5) - 0.5) / d; return (1.0 - min(min(g.x, g.y), 1.0)) * (1.0 - smoothstep(0.2, 0.5, max(d.x, d.y))); }
  void main() {
    float far = length(o.xy) / reach, fade = 1.0 - smoothstep(0.35, 1.0, far), shade = 1.0;
    if (shadows) { vec3 s = lit.xyz * 0.5 + 0.5; shade = 0.0;
      for (int i = 0; i < 9; i++) shade += texture(shadow, vec3(s.xy + (vec2(i % 3, i / 3) - 1.0) * 1.4 / 1024.0, s.z - 0.0015)) / 9.0; }
    float a = max(0.17 * lines(cell), 0.32 * lines(5.0 * cell)), dark = 0.24 * (1.0 - shade);
    float alpha = fade * max(a, dark); vec3 ink = mix(vec3(0.38, 0.45, 0.53), vec3(0.12, 0.15, 0.20), dark / max(a + dark, 1e-3));
    seen = vec4(ink * alpha, alpha);
  }`];
const RIBBON = [`#version 300 es
  layout(location=0) in vec2 corner; layout(location=1) in vec3 a; layout(location=2) in vec3 b; uniform mat4 camera; uniform vec2 size; uniform float width;
  void main() {
    vec4 p = camera * vec4(a, 1.0), q = camera * vec4(b, 1.0); vec2 d = (q.xy / q.w - p.xy / p.w) * size; d = length(d) > 1e-6 ? normalize(d) : vec2(1.0, 0.0);
    vec4 e = corner.x < 0.5 ? p : q; e.xy += (vec2(-d.y, d.x) * corner.y + d * (corner.x - 0.5)) * width / size * e.w; e.z -= 1e-4 * e.w; gl_Position = e;
  }`, `#version 300 es
  precision mediump float; uniform vec4 colour; out vec4 seen; void main() { seen = vec4(colour.rgb * colour.a, colour.a); }`];

const DRAFT = [`#version 300 es
  layout(location=0) in vec3 point; layout(location=1) in vec3 normal; uniform mat4 model, camera; uniform vec3 eye, sun, up; uniform vec4 colour; uniform float glow; out vec4 c;
  void main() { vec4 p = model * vec4(point, 1.0); gl_Position = camera * p; mat3 R = mat3(model); vec3 n = normalize(mat3(cross(R[1], R[2]), cross(R[2], R[0]), cross(R[0], R[1])) * normal);
    if (dot(n, eye - p.xyz) < 0.0) n = -n; vec3 base = colour.rgb * colour.rgb; c = vec4(sqrt(base * (0.42 + 0.12 * dot(n, up) + 0.86 * max(dot(n, sun), 0.0)) + glow * vec3(0.2, 0.12, 0.02)) * colour.a, colour.a); }`, `#version 300 es
  precision mediump float; in vec4 c; out vec4 seen; void main() { seen = c; }`];
// How finely pictures are drawn: all of it; without shadow and smooth edges; or in two drafts, with coarse solids and fewer pixels.
const QUALITY = [{ samples: 4, shadows: true, scale: 1 }, { samples: 0, shadows: false, scale: 1 }, { samples: 0, shadows: false, scale: 0.75, draft: 30000 },
  { samples: 0, shadows: false, scale: 0.5, draft: 6000 }];  // draft: how many triangles

class Stage {
  constructor(canvas) {
    this.canvas = canvas;
    const gl = this.gl = canvas.getContext("webgl2", { antialias: false, alpha: true });
    if (!gl) throw new Error("this browser has no WebGL 2");
    this.programs = Object.fromEntries(Object.entries({ SOLID, DRAFT, DEPTH, PICK, FLOOR, RIBBON }).map(([k, s]) => [k, this.program(s)]));
    this.layers = {}; this.trails = []; this.arrows = []; this.extra = []; this.selected = null; this.shadows = true; this.header = null; this.quality = 0; this.ceiling = 0; this.slow = 0; this.paper = {};
    this.target = this.framebuffer(); this.shadow = this.shadowmap(1024);
    const corners = this.quad = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, corners); gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([0, -1, 1, -1, 0, 1, 1, 1]), gl.STATIC_DRAW);
    this.segments = gl.createBuffer();
    this.plate = this.vao(new Float32Array([-1, -1, 0, 0, 0, 1, 1, -1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, -1, 1, 0, 0, 0, 1]), new Uint32Array([0, 1, 2, 0, 2, 3]));
  }
  program([vertex, fragment]) {
    const gl = this.gl, p = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const s = gl.createShader(kind); gl.shaderSource(s, text); gl.compileShader(s);
      if (!gl.getShaderParameter(s, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(s));
      gl.attachShader(p, s);
    }
    gl.linkProgram(p);
    if (!gl.getProgramParameter(p, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(p));
    const found = { program: p };
    for (let k = 0; k < gl.getProgramParameter(p, gl.ACTIVE_UNIFORMS); k++) { const name = gl.getActiveUniform(p, k).name; found[name] = gl.getUniformLocation(p, name); }
    return found;
  }
  vao(vertices, faces) {  // vertices: point and normal, six numbers each
    const gl = this.gl, vao = gl.createVertexArray(), a = gl.createBuffer(), e = gl.createBuffer();
    gl.bindVertexArray(vao); gl.bindBuffer(gl.ARRAY_BUFFER, a); gl.bufferData(gl.ARRAY_BUFFER, vertices, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(0); gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 24, 0);
    gl.enableVertexAttribArray(1); gl.vertexAttribPointer(1, 3, gl.FLOAT, false, 24, 12);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, e); gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, faces, gl.STATIC_DRAW);
    gl.bindVertexArray(null);
    return { vao, count: faces.length, a, e, vertices, faces };
  }
  shadowmap(size) {
    const gl = this.gl, texture = gl.createTexture(), frame = gl.createFramebuffer();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.DEPTH_COMPONENT24, size, size, 0, gl.DEPTH_COMPONENT, gl.UNSIGNED_INT, null);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR); gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE); gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE);
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame); gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, texture, 0);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    return { size, texture, frame };
  }
  framebuffer() {
    const gl = this.gl, frame = gl.createFramebuffer(), colour = gl.createRenderbuffer(), depth = gl.createRenderbuffer();
    return { frame, colour, depth, w: 0, h: 0 };
  }

  // ---------------------------------------------------------------- quality: what moves is drawn as finely as the machine can at 60 pictures a second
  pace(milliseconds) {  // the time between two pictures of something that moves
    if (milliseconds > 3000) return;  // the page was hidden
    const weight = milliseconds > 100 ? 0.5 : 0.15; this.slow = (1 - weight) * this.slow + weight * (milliseconds > 23 ? 1 : 0);
    if (this.slow > 0.6 && this.ceiling < QUALITY.length - 1) { this.ceiling++; this.slow = 0; }
    this.quality = this.ceiling;
  }
  rest() { if (this.quality) { this.quality = 0; return true; } return false; }
  sheet() {  // where a picture is drawn before it is put on the canvas
    const gl = this.gl, q = QUALITY[this.quality], w = Math.max(1, Math.round(q.scale * this.canvas.width)), h = Math.max(1, Math.round(q.scale * this.canvas.height)), key = `${q.samples} ${q.scale}`;
    const s = this.paper[key] = this.paper[key] || { frame: gl.createFramebuffer(), colour: gl.createRenderbuffer(), depth: gl.createRenderbuffer() };
    if (s.w !== w || s.h !== h) {
      s.w = w; s.h = h; gl.bindFramebuffer(gl.FRAMEBUFFER, s.frame);
      for (const [buffer, format, at] of [[s.colour, gl.RGBA8, gl.COLOR_ATTACHMENT0], [s.depth, gl.DEPTH_COMPONENT24, gl.DEPTH_ATTACHMENT]]) {
        gl.bindRenderbuffer(gl.RENDERBUFFER, buffer); gl.renderbufferStorageMultisample(gl.RENDERBUFFER, q.samples, format, w, h); gl.framebufferRenderbuffer(gl.FRAMEBUFFER, at, gl.RENDERBUFFER, buffer);
      }
    }
    return s;
  }
  coarse(g) {  // few triangles in place of many: points that share a cell of a grid become one
    const budget = QUALITY[this.quality].draft, known = g.coarse = g.coarse || {};
    if (known[budget]) return known[budget];
    const share = Math.max(24, budget * g.count / this.triangles);
    if (g.count <= 3 * share) return (known[budget] = g);
    const P = g.vertices, F = g.faces, low = [1e30, 1e30, 1e30], high = [-1e30, -1e30, -1e30], cells = Math.max(3, Math.round(Math.sqrt(share / 12)));
    for (let i = 0; i < P.length; i += 6) for (let k = 0; k < 3; k++) { low[k] = Math.min(low[k], P[i + k]); high[k] = Math.max(high[k], P[i + k]); }
    const wide = high.map((x, k) => (x - low[k]) || 1e-9), longest = Math.max(...wide), each = wide.map((x) => Math.max(share > 100 ? 4 : 2, Math.round(cells * x / longest))), n = Math.max(...each) + 1, of = new Map(), which = new Uint32Array(P.length / 6), sums = [];
    for (let i = 0, v = 0; i < P.length; i += 6, v++) {
      const c = [0, 1, 2].map((k) => Math.floor((P[i + k] - low[k]) / wide[k] * each[k])), side = [0, 1, 2].reduce((a, k) => Math.abs(P[i + 3 + k]) > Math.abs(P[i + 3 + a]) ? k : a, 0), key = ((c[0] * n + c[1]) * n + c[2]) * 6 + 2 * side + (P[i + 3 + side] > 0 ? 1 : 0);
      let k = of.get(key); if (k === undefined) { k = of.size; of.set(key, k); sums.push([0, 0, 0, 0, 0, 0, 0]); }
      which[v] = k; const s = sums[k]; for (let j = 0; j < 6; j++) s[j] += P[i + j]; s[6]++;
    }
    const cellOf = [...of.keys()].map((key) => Math.floor(key / 6)), faces = [];
    for (let i = 0; i < F.length; i += 3) { const [a, b, c] = [which[F[i]], which[F[i + 1]], which[F[i + 2]]]; if (cellOf[a] !== cellOf[b] && cellOf[b] !== cellOf[c] && cellOf[a] !== cellOf[c]) faces.push(a, b, c); }
    const mean = new Map();  // one place for all points of a cell, so that nothing gapes
    sums.forEach((s, k) => { const m = mean.get(cellOf[k]) || [0, 0, 0, 0]; for (let j = 0; j < 3; j++) m[j] += s[j]; m[3] += s[6]; mean.set(cellOf[k], m); });
    const vertices = new Float32Array(sums.flatMap((s, k) => { const m = mean.get(cellOf[k]), l = Math.hypot(s[3], s[4], s[5]) || 1; return [m[0] / m[3], m[1] / m[3], m[2] / m[3], s[3] / l, s[4] / l, s[5] / l]; }));
    return (known[budget] = faces.length ? this.vao(vertices, new Uint32Array(faces)) : g);
  }

  // ---------------------------------------------------------------- a scene
  load(header, blob, keepView = false) {
    for (const g of this.geometries || []) for (const one of new Set([g, ...Object.values(g.coarse || {})])) { this.gl.deleteBuffer(one.a); this.gl.deleteBuffer(one.e); this.gl.deleteVertexArray(one.vao); }
    this.header = header;
    this.geometries = header.geometries.map((g) => this.vao(new Float32Array(blob, g.start, 6 * g.points), new Uint32Array(blob, g.start + 24 * g.points, 3 * g.faces)));
    this.shape = Object.fromEntries(header.geometries.map((g, k) => [g.key, k]));
    this.parts = header.parts.map((p) => ({ ...p, local: M4.rows(p.pose) }));
    this.at = header.bodies.map(() => M4.rows([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0]));
    for (const [name, on] of Object.entries(header.layers)) if (!(name in this.layers)) this.layers[name] = on;
    this.triangles = this.parts.reduce((s, p) => s + (this.layers[p.layer] ? this.geometries[p.geometry].count : 0), 1);
    this.pose(header.poses);
    if (!keepView || !this.camera) this.look();
  }
  pose(rows) { for (let b = 0; b < this.at.length; b++) this.at[b] = M4.rows(rows, 12 * b); }
  place(body, point) { return M4.point(this.at[body], point); }

  // ---------------------------------------------------------------- from where it is seen
  look(flat = false) {
    const h = this.header, t = h.view.towards, up = h.up;
    let f = V.add(t, up, -V.dot(t, up)); f = V.length(f) < 1e-6 ? V.scale(h.view.up, -1) : V.unit(f);
    this.base = { f, r: V.cross(up, f), up };
    const pitch = Math.asin(Math.min(1, Math.max(-1, V.dot(t, up)))), tilt = h.view.planar && !flat && Math.abs(pitch) < 1;
    this.camera = { middle: h.middle.slice(), distance: 2.75 * h.radius, yaw: tilt ? -0.22 : 0, pitch: tilt ? pitch + 0.16 : pitch, flat };
    this.fit();
  }
  lens() { const aspect = this.canvas.clientWidth / Math.max(1, this.canvas.clientHeight); return { aspect, f: 2.4 * Math.min(1, aspect) }; }
  fit(fill = 0.84) {  // as near as the box of what is seen allows
    const { box, radius } = this.header, c = this.camera, b = this.basis(), { aspect, f } = this.lens();
    c.middle = [0, 1, 2].map((i) => (box[0][i] + box[1][i]) / 2);
    let distance = 0.3 * radius;
    for (let k = 0; k < 8; k++) {
      const p = V.add([0, 1, 2].map((i) => box[(k >> i) & 1][i]), c.middle, -1), z = c.flat ? 0 : V.dot(p, b.z);
      distance = Math.max(distance, z + Math.abs(V.dot(p, b.x)) * f / aspect / fill, z + Math.abs(V.dot(p, b.y)) * f / fill);
    }
    c.distance = distance;
  }
  basis() {
    const { f, r, up } = this.base, c = this.camera, level = V.add(V.scale(f, Math.cos(c.yaw)), r, Math.sin(c.yaw));
    const z = V.add(V.scale(level, Math.cos(c.pitch)), up, Math.sin(c.pitch)), x = V.add(V.scale(r, Math.cos(c.yaw)), f, -Math.sin(c.yaw));
    return { x, y: V.cross(z, x), z, eye: V.add(c.middle, z, c.distance) };
  }
  matrices() {
    const c = this.camera, b = this.basis(), { aspect, f } = this.lens(), R = this.header.radius;
    const near = Math.max(0.02 * c.distance, c.distance - 12 * R), far = c.distance + 30 * R;
    const lens = c.flat ? M4.ortho(c.distance / f * aspect, c.distance / f, -20 * R, far) : M4.perspective(f, aspect, near, far);
    return { ...b, camera: M4.times(lens, M4.seen(b.x, b.y, b.z, b.eye)), perPixel: 2 * c.distance / f / Math.max(1, this.canvas.clientHeight) };
  }
  screen(p) {  // pixels of the canvas
    const m = this.now || this.matrices(), q = [0, 1, 3].map((i) => m.camera[i] * p[0] + m.camera[4 + i] * p[1] + m.camera[8 + i] * p[2] + m.camera[12 + i]);
    return [(q[0] / q[2] + 1) / 2 * this.canvas.clientWidth, (1 - q[1] / q[2]) / 2 * this.canvas.clientHeight];
  }
  ray(px, py) {  // [from, direction] through a pixel
    const m = this.matrices(), s = m.perPixel, dx = (px - this.canvas.clientWidth / 2) * s, dy = (this.canvas.clientHeight / 2 - py) * s;
    const on = V.add(V.add(this.camera.middle, m.x, dx), m.y, dy);
    return this.camera.flat ? [V.add(on, m.z, this.camera.distance), V.scale(m.z, -1)] : [m.eye, V.unit(V.add(on, m.eye, -1))];
  }
  onPlane(px, py, point, normal) {
    const [from, along] = this.ray(px, py), d = V.dot(along, normal);
    return Math.abs(d) < 1e-6 ? null : V.add(from, along, V.dot(V.add(point, from, -1), normal) / d);
  }
  turn(dx, dy) { const c = this.camera; c.yaw -= 0.008 * dx; c.pitch = Math.min(1.56, Math.max(-1.56, c.pitch + 0.008 * dy)); }
  pan(dx, dy) { const m = this.matrices(), c = this.camera; c.middle = V.add(V.add(c.middle, m.x, -dx * m.perPixel), m.y, dy * m.perPixel); }
  zoom(by) { const c = this.camera, R = this.header.radius; c.distance = Math.min(60 * R, Math.max(0.05 * R, c.distance * Math.exp(by))); }

  // ---------------------------------------------------------------- what is drawn, as [geometry, matrix, colour, id, glow]
  list() {
    const found = [], seen = this.layers;
    this.parts.forEach((p, k) => {
      if (!seen[p.layer]) return;
      const glow = this.selected && (p.name === this.selected || this.header.bodies[p.body] === this.selected && p.layer === "bodies") ? 1 : 0;
      found.push([this.geometries[p.geometry], M4.times(this.at[p.body], p.local), p.colour, k + 1, glow]);
    });
    this.header.spans.forEach((s, k) => {
      if (!seen[s.layer]) return;
      const a = this.place(s.start, s.at), b = this.place(s.end, s.to), d = V.length(V.add(b, a, -1));
      if (d > 1e-9) found.push([this.geometries[s.geometry], between(a, b, s.width), s.colour, 20000 + k, this.selected === s.name ? 1 : 0]);
    });
    for (const e of this.extra) found.push([this.geometries[this.shape[e.shape]], e.at, e.colour, e.id || 0, e.glow || 0]);
    for (const a of this.arrows) {
      const d = V.add(a.to, a.from, -1), n = V.length(d), w = Math.max(0.25 * this.header.unit, 0.012 * this.header.radius);
      if (n > 1e-9) found.push([this.geometries[this.shape["unit arrow"]], between(a.from, a.to, Math.min(w, n)), a.colour, 0, 0]);
    }
    return found;
  }
  resize() {
    const c = this.canvas, dense = Math.min(2, window.devicePixelRatio || 1), w = Math.round(c.clientWidth * dense), h = Math.round(c.clientHeight * dense);
    if (c.width !== w || c.height !== h) { c.width = w; c.height = h; }
  }
  draw() {
    if (!this.header) return;
    this.resize();
    const gl = this.gl, m = this.now = this.matrices(), all = this.list(), solid = all.filter((o) => o[2][3] >= 0.99), glass = all.filter((o) => o[2][3] < 0.99);
    const light = this.sunlight(), quality = QUALITY[this.quality], sheet = this.sheet();
    this.shadows = quality.shadows;
    if (quality.draft) for (const o of all) o[0] = this.coarse(o[0]);
    if (this.shadows) this.cast(solid, light.matrix);
    gl.bindFramebuffer(gl.FRAMEBUFFER, sheet.frame); gl.viewport(0, 0, sheet.w, sheet.h);
    gl.clearColor(0, 0, 0, 0); gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST); gl.depthMask(true); gl.disable(gl.BLEND);
    this.solids(solid, m, light);
    gl.enable(gl.BLEND); gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA); gl.depthMask(false);
    this.floor(m, light);
    this.ribbons(m);
    const far = (o) => V.dot([o[1][12], o[1][13], o[1][14]], m.z);
    this.solids(glass.sort((a, b) => far(a) - far(b)), m, light);
    gl.depthMask(true);
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, sheet.frame); gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, null);
    gl.blitFramebuffer(0, 0, sheet.w, sheet.h, 0, 0, this.canvas.width, this.canvas.height, gl.COLOR_BUFFER_BIT, sheet.w === this.canvas.width ? gl.NEAREST : gl.LINEAR);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }
  sunlight() {
    const h = this.header, { f, r, up } = this.base, sun = V.unit(V.add(V.add(V.scale(up, 1.0), f, 0.55), r, -0.45));
    const x = V.unit(V.cross(up, sun)), y = V.cross(sun, x), R = 1.25 * h.radius, eye = V.add(h.middle, sun, 3 * R);
    return { sun, matrix: M4.times(M4.ortho(R, R, 0.1 * R, 7 * R), M4.seen(x, y, sun, eye)) };
  }
  cast(solid, matrix) {
    const gl = this.gl, p = this.programs.DEPTH, s = this.shadow;
    gl.bindFramebuffer(gl.FRAMEBUFFER, s.frame); gl.viewport(0, 0, s.size, s.size); gl.enable(gl.DEPTH_TEST); gl.depthMask(true); gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.useProgram(p.program); gl.uniformMatrix4fv(p.light, false, matrix);
    for (const [g, at] of solid) { gl.uniformMatrix4fv(p.model, false, at); gl.bindVertexArray(g.vao); gl.drawElements(gl.TRIANGLES, g.count, gl.UNSIGNED_INT, 0); }
  }
  lit(p, m, light) {
    const gl = this.gl;
    gl.useProgram(p.program); gl.uniformMatrix4fv(p.camera, false, m.camera); gl.uniformMatrix4fv(p.light, false, light.matrix);
    gl.activeTexture(gl.TEXTURE0); gl.bindTexture(gl.TEXTURE_2D, this.shadow.texture); gl.uniform1i(p.shadow, 0); gl.uniform1i(p.shadows, this.shadows ? 1 : 0);
  }
  solids(list, m, light) {
    const gl = this.gl, draft = QUALITY[this.quality].draft, p = draft ? this.programs.DRAFT : this.programs.SOLID;
    if (draft) { gl.useProgram(p.program); gl.uniformMatrix4fv(p.camera, false, m.camera); } else this.lit(p, m, light);
    gl.uniform3fv(p.eye, this.camera.flat ? V.add(this.camera.middle, m.z, 100 * this.header.radius) : m.eye); gl.uniform3fv(p.sun, light.sun); gl.uniform3fv(p.up, this.header.up);
    for (const [g, at, colour, , glow] of list) {
      gl.uniformMatrix4fv(p.model, false, at); gl.uniform4fv(p.colour, colour); gl.uniform1f(p.glow, glow);
      gl.bindVertexArray(g.vao); gl.drawElements(gl.TRIANGLES, g.count, gl.UNSIGNED_INT, 0);
    }
  }
  floor(m, light) {
    const h = this.header, gl = this.gl, p = this.programs.FLOOR;
    if (h.floor === null || this.hideFloor) return;
    const R = 3.4 * h.radius, { f, r, up } = this.base, o = V.add(V.add(V.scale(up, h.floor), f, V.dot(h.middle, f)), r, V.dot(h.middle, r));
    if (V.dot(V.add(m.eye, o, -1), up) < 0 || Math.abs(V.dot(m.z, up)) < 0.02) return;
    this.lit(p, m, light);
    gl.uniformMatrix4fv(p.model, false, M4.frame(V.scale(r, R), V.scale(V.scale(f, -1), R), V.scale(up, 1), o));
    gl.uniform1f(p.cell, h.cell / R); gl.uniform1f(p.reach, 1);
    gl.bindVertexArray(this.plate.vao); gl.drawElements(gl.TRIANGLES, 6, gl.UNSIGNED_INT, 0);
  }
  ribbons(m) {  // trails: {points: flat numbers, colour, width in pixels, from, to: which points}
    const gl = this.gl, p = this.programs.RIBBON, c = this.canvas;
    gl.useProgram(p.program); gl.bindVertexArray(null); gl.uniformMatrix4fv(p.camera, false, m.camera);
    for (const t of this.trails) {
      const count = Math.floor(t.points.length / 3);
      if (count < 2) continue;
      gl.uniform2f(p.size, c.clientWidth / 2, c.clientHeight / 2); gl.uniform1f(p.width, t.width || 1.6); gl.uniform4fv(p.colour, t.colour);
      gl.bindBuffer(gl.ARRAY_BUFFER, this.segments); gl.bufferData(gl.ARRAY_BUFFER, t.points instanceof Float32Array ? t.points : new Float32Array(t.points), gl.DYNAMIC_DRAW);
      for (const [k, o] of [[1, 0], [2, 12]]) { gl.enableVertexAttribArray(k); gl.vertexAttribPointer(k, 3, gl.FLOAT, false, 12, o); gl.vertexAttribDivisor(k, 1); }
      gl.bindBuffer(gl.ARRAY_BUFFER, this.quad); gl.enableVertexAttribArray(0); gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 8, 0);
      gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, count - 1);
    }
    for (const k of [0, 1, 2]) { gl.vertexAttribDivisor(k, 0); gl.disableVertexAttribArray(k); }
  }
  pick(px, py) {  // what is under a pixel: {part, span, id, point}, or null
    const gl = this.gl, p = this.programs.PICK, t = this.target, w = this.canvas.width, h = this.canvas.height, dense = w / this.canvas.clientWidth;
    const m = this.matrices(), all = this.list();
    gl.bindFramebuffer(gl.FRAMEBUFFER, t.frame);
    if (t.w !== w || t.h !== h) {
      gl.bindRenderbuffer(gl.RENDERBUFFER, t.colour); gl.renderbufferStorage(gl.RENDERBUFFER, gl.RGBA8, w, h); gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.RENDERBUFFER, t.colour);
      gl.bindRenderbuffer(gl.RENDERBUFFER, t.depth); gl.renderbufferStorage(gl.RENDERBUFFER, gl.DEPTH_COMPONENT24, w, h); gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, t.depth);
      t.w = w; t.h = h;
    }
    const x = Math.round(px * dense), y = h - 1 - Math.round(py * dense);
    gl.viewport(0, 0, w, h); gl.enable(gl.SCISSOR_TEST); gl.scissor(x - 3, y - 3, 7, 7); gl.clearColor(0, 0, 0, 0); gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.disable(gl.BLEND); gl.enable(gl.DEPTH_TEST); gl.depthMask(true); gl.useProgram(p.program); gl.uniformMatrix4fv(p.camera, false, m.camera);
    const priority = all.filter((o) => o[3] >= 60000), rest = all.filter((o) => o[3] && o[3] < 60000);
    for (const [g, at, , id] of [...rest, ...priority]) {
      if (id === (priority[0] || [])[3]) gl.clear(gl.DEPTH_BUFFER_BIT);  // handles are in front
      gl.uniformMatrix4fv(p.model, false, at); gl.uniform1f(p.id, id); gl.bindVertexArray(g.vao); gl.drawElements(gl.TRIANGLES, g.count, gl.UNSIGNED_INT, 0);
    }
    const out = new Uint8Array(4 * 49); gl.readPixels(x - 3, y - 3, 7, 7, gl.RGBA, gl.UNSIGNED_BYTE, out); gl.disable(gl.SCISSOR_TEST); gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    let best = null, near = 1e9;
    for (let k = 0; k < 49; k++) {
      const id = 256 * out[4 * k] + out[4 * k + 1], d = Math.hypot(k % 7 - 3, Math.floor(k / 7) - 3) - (id >= 60000 ? 10 : 0);
      if (id && d < near) { near = d; best = { id, z: (256 * out[4 * k + 2] + out[4 * k + 3]) / 65535 }; }
    }
    if (!best) return null;
    const part = this.parts[best.id - 1], span = this.header.spans[best.id - 20000];
    return { id: best.id, part, span, point: this.unproject(px, py, best.z, m) };
  }
  unproject(px, py, depth, m) {
    const [from, along] = this.ray(px, py), row = (p, i) => m.camera[i] * p[0] + m.camera[4 + i] * p[1] + m.camera[8 + i] * p[2] + m.camera[12 + i];
    const z = 2 * depth - 1, a = row(from, 2) - z * row(from, 3), one = V.add(from, along), b = row(one, 2) - z * row(one, 3);
    return V.add(from, along, a / (a - b));
  }
}

// ---------------------------------------------------------------- poses of a film: position and quaternion of every body at equal times
class Film {
  constructor(times, numbers, bodies) { this.times = times; this.data = numbers; this.bodies = bodies; this.out = new Float32Array(12 * bodies); }
  get first() { return this.times[0]; }
  get last() { return this.times[this.times.length - 1]; }
  at(time) {
    const n = this.times.length, t = this.times;
    let k = 0, hi = n - 1;
    while (hi - k > 1) { const mid = (k + hi) >> 1; if (t[mid] <= time) k = mid; else hi = mid; }
    const s = n > 1 ? Math.min(1, Math.max(0, (time - t[k]) / ((t[k + 1] - t[k]) || 1))) : 0, d = this.data, B = this.bodies, out = this.out;
    for (let b = 0; b < B; b++) {
      const i = 7 * (k * B + b), j = n > 1 ? i + 7 * B : i, q = [0, 0, 0, 0];
      let sign = 0;
      for (let c = 0; c < 4; c++) sign += d[i + 3 + c] * d[j + 3 + c];
      sign = sign < 0 ? -1 : 1;
      for (let c = 0; c < 4; c++) q[c] = d[i + 3 + c] + s * (sign * d[j + 3 + c] - d[i + 3 + c]);
      const l = Math.hypot(q[0], q[1], q[2], q[3]) || 1, w = q[0] / l, x = q[1] / l, y = q[2] / l, z = q[3] / l, o = 12 * b;
      out[o] = 1 - 2 * (y * y + z * z); out[o + 1] = 2 * (x * y - w * z); out[o + 2] = 2 * (x * z + w * y);
      out[o + 4] = 2 * (x * y + w * z); out[o + 5] = 1 - 2 * (x * x + z * z); out[o + 6] = 2 * (y * z - w * x);
      out[o + 8] = 2 * (x * z - w * y); out[o + 9] = 2 * (y * z + w * x); out[o + 10] = 1 - 2 * (x * x + y * y);
      for (let c = 0; c < 3; c++) out[o + 4 * c + 3] = d[i + c] + s * (d[j + c] - d[i + c]);
    }
    return out;
  }
}
