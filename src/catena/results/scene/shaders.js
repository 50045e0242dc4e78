// Vectors, 4 x 4 matrices and the programs of the graphics card.
"use strict";
const tint = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim(); // a colour of the page, by day or by night
const V = {
  dot: (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2],
  cross: (a, b) => [
    a[1] * b[2] - a[2] * b[1],
    a[2] * b[0] - a[0] * b[2],
    a[0] * b[1] - a[1] * b[0],
  ],
  add: (a, b, s = 1) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]],
  scale: (a, s) => [s * a[0], s * a[1], s * a[2]],
  length: (a) => Math.hypot(a[0], a[1], a[2]),
  unit: (a) => {
    const n = Math.hypot(a[0], a[1], a[2]) || 1;
    return [a[0] / n, a[1] / n, a[2] / n];
  },
};
// 4 x 4 matrices, columns one after the other
const M4 = {
  times: (a, b) => {
    const c = new Float32Array(16);
    for (let j = 0; j < 4; j++)
      for (let i = 0; i < 4; i++) {
        let s = 0;
        for (let k = 0; k < 4; k++) s += a[4 * k + i] * b[4 * j + k];
        c[4 * j + i] = s;
      }
    return c;
  },
  rows: (r, o = 0) =>
    new Float32Array([
      r[o],
      r[o + 4],
      r[o + 8],
      0,
      r[o + 1],
      r[o + 5],
      r[o + 9],
      0,
      r[o + 2],
      r[o + 6],
      r[o + 10],
      0,
      r[o + 3],
      r[o + 7],
      r[o + 11],
      1,
    ]),
  point: (m, p) =>
    [0, 1, 2].map((i) => m[i] * p[0] + m[4 + i] * p[1] + m[8 + i] * p[2] + m[12 + i]),
  frame: (x, y, z, p) => new Float32Array([...x, 0, ...y, 0, ...z, 0, ...p, 1]),
  perspective: (f, aspect, near, far) =>
    new Float32Array([
      f / aspect,
      0,
      0,
      0,
      0,
      f,
      0,
      0,
      0,
      0,
      (far + near) / (near - far),
      -1,
      0,
      0,
      (2 * far * near) / (near - far),
      0,
    ]),
  ortho: (w, h, near, far) =>
    new Float32Array([
      1 / w,
      0,
      0,
      0,
      0,
      1 / h,
      0,
      0,
      0,
      0,
      2 / (near - far),
      0,
      0,
      0,
      (far + near) / (near - far),
      1,
    ]),
  seen: (x, y, z, p) =>
    new Float32Array([
      x[0],
      y[0],
      z[0],
      0,
      x[1],
      y[1],
      z[1],
      0,
      x[2],
      y[2],
      z[2],
      0,
      -V.dot(x, p),
      -V.dot(y, p),
      -V.dot(z, p),
      1,
    ]),
};
function between(a, b, width) {
  // the pose that brings z from 0 to 1 onto the line from a to b
  const d = V.add(b, a, -1),
    n = V.length(d) || 1e-9,
    z = V.scale(d, 1 / n);
  const side = Math.abs(z[0]) < 0.8 ? [1, 0, 0] : [0, 1, 0],
    x = V.unit(V.cross(side, z)),
    y = V.cross(z, x);
  return M4.frame(V.scale(x, width), V.scale(y, width), d, a);
}

const SOLID = [
  `#version 300 es
  layout(location=0) in vec3 point; layout(location=1) in vec3 normal;
  uniform mat4 model, camera, light; out vec3 n, w; out vec4 lit;
  void main() {
    vec4 p = model * vec4(point, 1.0); w = p.xyz; lit = light * p; gl_Position = camera * p;
    mat3 R = mat3(model); n = mat3(cross(R[1], R[2]), cross(R[2], R[0]), cross(R[0], R[1])) * normal;
  }`,
  `#version 300 es
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
  }`,
];
const DEPTH = [
  `#version 300 es
  layout(location=0) in vec3 point; uniform mat4 model, light; void main() { gl_Position = light * model * vec4(point, 1.0); }`,
  `#version 300 es
  precision mediump float; void main() {}`,
];
const PICK = [
  `#version 300 es
  layout(location=0) in vec3 point; uniform mat4 model, camera; void main() { gl_Position = camera * model * vec4(point, 1.0); }`,
  `#version 300 es
  precision highp float; uniform float id; out vec4 seen;
  void main() { float z = gl_FragCoord.z * 65535.0, a = floor(id / 256.0), b = floor(z / 256.0);
    seen = vec4(a, id - 256.0 * a, b, z - 256.0 * b) / 255.0; }`,
];
const FLOOR = [
  `#version 300 es
  layout(location=0) in vec3 point; uniform mat4 model, camera, light; out vec3 w, o; out vec4 lit;
  void main() { vec4 p = model * vec4(point, 1.0); w = p.xyz; o = point; lit = light * p; gl_Position = camera * p; }`,
  `#version 300 es
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
  }`,
];
const GRID = [
  FLOOR[0],
  `#version 300 es
  precision mediump float; in vec3 o; uniform float ink; out vec4 seen;
  void main() { float alpha = ink * (1.0 - smoothstep(0.35, 1.0, length(o.xy))); seen = vec4(vec3(0.38, 0.45, 0.53) * alpha, alpha); }`,
];
const RIBBON = [
  `#version 300 es
  layout(location=0) in vec2 corner; layout(location=1) in vec3 a; layout(location=2) in vec3 b; uniform mat4 camera; uniform vec2 size; uniform float width;
  void main() {
    vec4 p = camera * vec4(a, 1.0), q = camera * vec4(b, 1.0); vec2 d = (q.xy / q.w - p.xy / p.w) * size; d = length(d) > 1e-6 ? normalize(d) : vec2(1.0, 0.0);
    vec4 e = corner.x < 0.5 ? p : q; e.xy += (vec2(-d.y, d.x) * corner.y + d * (corner.x - 0.5)) * width / size * e.w; e.z -= 1e-4 * e.w; gl_Position = e;
  }`,
  `#version 300 es
  precision mediump float; uniform vec4 colour; out vec4 seen; void main() { seen = vec4(colour.rgb * colour.a, colour.a); }`,
];
// Drafts: solids whose points were placed and lit before. `tint` instead of their colours where given.
const DRAFT = [
  `#version 300 es
  layout(location=0) in vec3 point; layout(location=1) in vec4 colour; uniform mat4 camera; uniform vec4 tint; out vec4 c;
  void main() { gl_Position = camera * vec4(point, 1.0); c = tint.a > 0.0 ? tint : vec4(colour.rgb * colour.a, colour.a); }`,
  `#version 300 es
  precision mediump float; in vec4 c; out vec4 seen; void main() { seen = c; }`,
];
