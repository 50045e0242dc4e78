// Stage: a scene in WebGL 2. Solids with light and shadow, ribbons for traces, arrows for forces, a floor with a grid, picking.
//
//   const stage = stageOn(canvas);  stage.load(header, blob);  stage.pose(poses);  stage.draw();
//
// header: what `wire.py` writes; blob: its triangles. poses: bodies x 12 numbers, the rows of X_WB.
// How finely pictures are drawn: with shadows and smooth edges; without; or in two drafts, all solids at once and coarse, the second without shadows and with fewer pixels.
const QUALITY = [
  { samples: 4, shadows: true },
  { samples: 0 },
  { draft: true, scale: 1, flat: true },
  { draft: true, scale: 0.75 },
];
const INNER = new Set(["axes", "frames", "masses"]); // layers of what is inside bodies
const REACH = 3.4; // of the floor, beside the radius of what is seen
const SLOW = 22,
  QUICK = 12,
  PATIENCE = 4000; // ms: a picture that is late; one that a better quality may take; how long before that is tried

class Stage {
  constructor(canvas) {
    this.canvas = canvas;
    this.layers = {};
    this.trails = [];
    this.arrows = [];
    this.extra = [];
    this.selected = null;
    this.shadows = true;
    this.header = null;
    this.pictures = 0;
    this.quality = 0;
    this.ceiling = 0;
    this.slow = 0;
    this.good = 0;
    this.patience = PATIENCE;
    this.batches = new Map();
    this.prepare();
  }
  prepare() {
    const gl = (this.gl = this.canvas.getContext("webgl2", {
      antialias: false,
      alpha: true,
      stencil: true,
    }));
    this.programs = Object.fromEntries(
      Object.entries({ SOLID, DRAFT, DEPTH, PICK, FLOOR, GRID, RIBBON }).map(([k, s]) => [
        k,
        this.program(s),
      ]),
    );
    this.sheet = this.framebuffer();
    this.target = this.framebuffer();
    this.shadow = this.shadowmap(1024);
    const corners = (this.quad = gl.createBuffer());
    gl.bindBuffer(gl.ARRAY_BUFFER, corners);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([0, -1, 1, -1, 0, 1, 1, 1]), gl.STATIC_DRAW);
    this.segments = gl.createBuffer();
    this.plate = this.vao(
      new Float32Array([
        -1, -1, 0, 0, 0, 1, 1, -1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, -1, 1, 0, 0, 0, 1,
      ]),
      new Uint32Array([0, 1, 2, 0, 2, 3]),
    );
  }
  program([vertex, fragment]) {
    const gl = this.gl,
      p = gl.createProgram();
    for (const [kind, text] of [
      [gl.VERTEX_SHADER, vertex],
      [gl.FRAGMENT_SHADER, fragment],
    ]) {
      const s = gl.createShader(kind);
      gl.shaderSource(s, text);
      gl.compileShader(s);
      if (!gl.getShaderParameter(s, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(s));
      gl.attachShader(p, s);
    }
    gl.linkProgram(p);
    if (!gl.getProgramParameter(p, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(p));
    const found = { program: p };
    for (let k = 0; k < gl.getProgramParameter(p, gl.ACTIVE_UNIFORMS); k++) {
      const name = gl.getActiveUniform(p, k).name;
      found[name] = gl.getUniformLocation(p, name);
    }
    return found;
  }
  vao(vertices, faces) {
    // vertices: point and normal, six numbers each
    const gl = this.gl,
      vao = gl.createVertexArray(),
      a = gl.createBuffer(),
      e = gl.createBuffer();
    gl.bindVertexArray(vao);
    gl.bindBuffer(gl.ARRAY_BUFFER, a);
    gl.bufferData(gl.ARRAY_BUFFER, vertices, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 24, 0);
    gl.enableVertexAttribArray(1);
    gl.vertexAttribPointer(1, 3, gl.FLOAT, false, 24, 12);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, e);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, faces, gl.STATIC_DRAW);
    gl.bindVertexArray(null);
    return { vao, count: faces.length, a, e, vertices, faces };
  }
  shadowmap(size) {
    const gl = this.gl,
      texture = gl.createTexture(),
      frame = gl.createFramebuffer();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texImage2D(
      gl.TEXTURE_2D,
      0,
      gl.DEPTH_COMPONENT24,
      size,
      size,
      0,
      gl.DEPTH_COMPONENT,
      gl.UNSIGNED_INT,
      null,
    );
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE);
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, texture, 0);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    return { size, texture, frame };
  }
  framebuffer() {
    const gl = this.gl,
      frame = gl.createFramebuffer(),
      colour = gl.createRenderbuffer(),
      depth = gl.createRenderbuffer();
    return { frame, colour, depth, w: 0, h: 0 };
  }

  // ---------------------------------------------------------------- quality: what moves is drawn as finely as the machine can at 60 pictures a second
  pace(milliseconds) {
    // the time between two pictures of something that moves
    if (milliseconds > 3000) return; // the page was hidden
    const late = milliseconds > SLOW,
      weight = milliseconds > 100 ? 0.7 : 0.03;
    this.slow = (1 - weight) * this.slow + (late ? weight : 0);
    this.good = late ? Math.max(0, this.good - 10 * milliseconds) : this.good + milliseconds;
    if (this.slow > 0.2 && this.ceiling < QUALITY.length - 1) {
      this.ceiling = Math.min(QUALITY.length - 1, this.ceiling + (milliseconds > 50 ? 2 : 1));
      this.slow = this.good = 0;
      if (this.risen) this.patience *= 4;
    }
    this.quality = this.ceiling;
    if (this.ceiling && this.good > this.patience) this.better();
  }
  better() {
    // one picture of the next better quality, by the clock: a machine that was busy at first is not drafty for ever
    const one = new Uint8Array(4),
      gl = this.gl;
    this.quality = this.ceiling - 1;
    this.good = 0;
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, one);
    const began = performance.now();
    this.draw();
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, one);
    const took = performance.now() - began;
    if ((this.risen = took < QUICK)) this.ceiling--;
    else this.patience *= took > 4 * QUICK ? 1e9 : 4; // far from it: never again
    this.quality = this.ceiling;
  }
  rest() {
    if (this.quality) {
      this.quality = 0;
      return true;
    }
    return false;
  }
  paper() {
    // where a picture with smooth edges is drawn before it is put on the canvas
    const gl = this.gl,
      s = this.sheet,
      w = this.canvas.width,
      h = this.canvas.height;
    if (s.w !== w || s.h !== h) {
      s.w = w;
      s.h = h;
      gl.bindFramebuffer(gl.FRAMEBUFFER, s.frame);
      for (const [buffer, format, at] of [
        [s.colour, gl.RGBA8, gl.COLOR_ATTACHMENT0],
        [s.depth, gl.DEPTH_COMPONENT24, gl.DEPTH_ATTACHMENT],
      ]) {
        gl.bindRenderbuffer(gl.RENDERBUFFER, buffer);
        gl.renderbufferStorageMultisample(gl.RENDERBUFFER, QUALITY[0].samples, format, w, h);
        gl.framebufferRenderbuffer(gl.FRAMEBUFFER, at, gl.RENDERBUFFER, buffer);
      }
    }
    return s.frame;
  }
  // A draft: all solids of a list in one buffer, their points placed and lit here and drawn by one call. Where pictures are drawn without a graphics card,
  // calls and programs of vertices cost most, and this thread waits anyway.
  batch(list, m, light) {
    const gl = this.gl,
      key = list.map((o) => o[0].number).join(" ");
    let b = this.batches.get(key);
    if (!b) {
      b = this.bound(list.map((o) => o[0].few || o[0]));
      this.batches.set(key, b);
    }
    for (let k = 0, v = 0; k < list.length; k++)
      v = this.lay(b, b.shapes[k].vertices, v, list[k], light.sun, this.eye(m));
    gl.bindBuffer(gl.ARRAY_BUFFER, b.a);
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, b.numbers);
    return b;
  }
  lay(b, P, v, [, X, colour, , glow], sun, eye) {
    // places and colours of the points of one solid; where the next begins
    const [a, d, g, , e, f, h, , i, j, k, , x, y, z] = X,
      up = this.header.up,
      out = b.numbers,
      paint = b.colours;
    const nx = [f * k - h * j, h * i - e * k, e * j - f * i],
      ny = [g * j - d * k, a * k - g * i, d * i - a * j],
      nz = [d * h - f * g, e * g - a * h, a * f - d * e]; // cofactors, for normals
    const rgb = [0, 1, 2].map((n) => 255 * Math.min(1, colour[n] + 0.16 * glow)),
      alpha = 255 * colour[3];
    for (let n = 0; n < P.length; n += 6, v++) {
      const p = P[n],
        q = P[n + 1],
        r = P[n + 2],
        s = P[n + 3],
        t = P[n + 4],
        u = P[n + 5],
        o = 4 * v,
        c = 16 * v + 12;
      const px = (out[o] = a * p + e * q + i * r + x),
        py = (out[o + 1] = d * p + f * q + j * r + y),
        pz = (out[o + 2] = g * p + h * q + k * r + z);
      const X1 = nx[0] * s + ny[0] * t + nz[0] * u,
        Y1 = nx[1] * s + ny[1] * t + nz[1] * u,
        Z1 = nx[2] * s + ny[2] * t + nz[2] * u;
      let one = 1 / (Math.sqrt(X1 * X1 + Y1 * Y1 + Z1 * Z1) || 1);
      if (X1 * (eye[0] - px) + Y1 * (eye[1] - py) + Z1 * (eye[2] - pz) < 0) one = -one;
      const day = one * (X1 * sun[0] + Y1 * sun[1] + Z1 * sun[2]),
        light = Math.sqrt(
          0.44 + 0.1 * one * (X1 * up[0] + Y1 * up[1] + Z1 * up[2]) + (day > 0 ? 0.86 * day : 0),
        );
      paint[c] = rgb[0] * light;
      paint[c + 1] = rgb[1] * light;
      paint[c + 2] = rgb[2] * light;
      paint[c + 3] = alpha;
    }
    return v;
  }
  bound(shapes) {
    const gl = this.gl,
      vao = gl.createVertexArray(),
      a = gl.createBuffer(),
      e = gl.createBuffer(),
      points = shapes.reduce((s, g) => s + g.vertices.length / 6, 0),
      faces = new Uint32Array(shapes.reduce((s, g) => s + g.faces.length, 0)),
      numbers = new Float32Array(4 * points);
    let v = 0,
      f = 0;
    for (const g of shapes) {
      for (let i = 0; i < g.faces.length; i++) faces[f++] = v + g.faces[i];
      v += g.vertices.length / 6;
    }
    gl.bindVertexArray(vao);
    gl.bindBuffer(gl.ARRAY_BUFFER, a);
    gl.bufferData(gl.ARRAY_BUFFER, 16 * points, gl.DYNAMIC_DRAW);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 16, 0);
    gl.enableVertexAttribArray(1);
    gl.vertexAttribPointer(1, 4, gl.UNSIGNED_BYTE, true, 16, 12);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, e);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, faces, gl.STATIC_DRAW);
    gl.bindVertexArray(null);
    return {
      vao,
      a,
      e,
      shapes,
      count: faces.length,
      numbers,
      colours: new Uint8ClampedArray(numbers.buffer),
    };
  }
  forget(g) {
    this.gl.deleteBuffer(g.a);
    this.gl.deleteBuffer(g.e);
    this.gl.deleteVertexArray(g.vao);
  }

  deform(g, vertices) {
    // other points and normals for the same triangles
    g.vertices = vertices;
    g.few = null;
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, g.a);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, vertices, this.gl.STATIC_DRAW);
    for (const b of this.batches.values()) this.forget(b);
    this.batches.clear();
  }

  // ---------------------------------------------------------------- a scene
  load(header, blob, keepView = false) {
    for (const g of [...(this.geometries || []), ...this.batches.values(), ...(this.net || [])])
      this.forget(g);
    this.header = header;
    this.batches.clear();
    const arrays = (g) => [
      new Float32Array(blob, g.start, 6 * g.points),
      new Uint32Array(blob, g.start + 24 * g.points, 3 * g.faces),
    ];
    this.geometries = header.geometries.map((g, number) => {
      const few = g.coarse ? arrays(g.coarse) : null;
      return { ...this.vao(...arrays(g)), number, few: few && { vertices: few[0], faces: few[1] } };
    });
    this.net = [1, 5].map((k) => this.grid((k * header.cell) / (REACH * header.radius)));
    this.shape = Object.fromEntries(header.geometries.map((g, k) => [g.key, k]));
    this.parts = header.parts.map((p) => ({ ...p, local: M4.rows(p.pose) }));
    this.at = header.bodies.map(() => M4.rows([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0]));
    for (const [name, on] of Object.entries(header.layers))
      if (!(name in this.layers)) this.layers[name] = on;
    this.pose(header.poses);
    if (!keepView || !this.camera) this.look();
  }
  grid(cell) {
    // lines of a square net within the unit circle
    const points = [];
    for (let k = Math.ceil(-1 / cell); k * cell < 1; k++) {
      const x = k * cell,
        y = Math.sqrt(1 - x * x);
      points.push([x, -y], [x, y], [-y, x], [y, x]);
    }
    return this.vao(
      new Float32Array(points.flatMap(([x, y]) => [x, y, 0, 0, 0, 1])),
      Uint32Array.from(points.keys()),
    );
  }
  pose(rows) {
    for (let b = 0; b < this.at.length; b++) this.at[b] = M4.rows(rows, 12 * b);
  }
  place(body, point) {
    return M4.point(this.at[body], point);
  }

  // ---------------------------------------------------------------- from where it is seen
  look(flat = false) {
    const h = this.header,
      t = h.view.towards,
      up = h.up;
    let f = V.add(t, up, -V.dot(t, up));
    f = V.length(f) < 1e-6 ? V.scale(h.view.up, -1) : V.unit(f);
    this.base = { f, r: V.cross(up, f), up };
    const pitch = Math.asin(Math.min(1, Math.max(-1, V.dot(t, up)))),
      tilt = h.view.planar && !flat && Math.abs(pitch) < 1;
    this.camera = {
      middle: h.middle.slice(),
      distance: 2.75 * h.radius,
      yaw: tilt ? -0.22 : 0,
      pitch: tilt ? pitch + 0.16 : pitch,
      flat,
    };
    this.fit();
  }
  lens() {
    const aspect = this.canvas.clientWidth / Math.max(1, this.canvas.clientHeight);
    return { aspect, f: 2.4 * Math.min(1, aspect) };
  }
  fit(fill = 0.84) {
    // as near as the box of what is seen allows
    const { box, radius } = this.header,
      c = this.camera,
      b = this.basis(),
      { aspect, f } = this.lens();
    c.middle = [0, 1, 2].map((i) => (box[0][i] + box[1][i]) / 2);
    let distance = 0.3 * radius;
    for (let k = 0; k < 8; k++) {
      const p = V.add(
          [0, 1, 2].map((i) => box[(k >> i) & 1][i]),
          c.middle,
          -1,
        ),
        z = c.flat ? 0 : V.dot(p, b.z);
      distance = Math.max(
        distance,
        z + (Math.abs(V.dot(p, b.x)) * f) / aspect / fill,
        z + (Math.abs(V.dot(p, b.y)) * f) / fill,
      );
    }
    c.distance = distance;
  }
  widen(box) {
    // the box of what is seen holds this one too; whether it grew by much
    const h = this.header,
      grew = [0, 1, 2].some(
        (k) => box[0][k] < h.box[0][k] - 0.1 * h.radius || box[1][k] > h.box[1][k] + 0.1 * h.radius,
      );
    h.box = [0, 1].map((i) =>
      [0, 1, 2].map((k) => (i ? Math.max : Math.min)(box[i][k], h.box[i][k])),
    );
    h.middle = [0, 1, 2].map((k) => (h.box[0][k] + h.box[1][k]) / 2);
    h.radius = Math.max(h.radius, V.length(V.add(h.box[1], h.box[0], -1)) / 2);
    return grew;
  }
  basis() {
    const { f, r, up } = this.base,
      c = this.camera,
      level = V.add(V.scale(f, Math.cos(c.yaw)), r, Math.sin(c.yaw));
    const z = V.add(V.scale(level, Math.cos(c.pitch)), up, Math.sin(c.pitch)),
      x = V.add(V.scale(r, Math.cos(c.yaw)), f, -Math.sin(c.yaw));
    return { x, y: V.cross(z, x), z, eye: V.add(c.middle, z, c.distance) };
  }
  matrices() {
    const c = this.camera,
      b = this.basis(),
      { aspect, f } = this.lens(),
      R = this.header.radius;
    const near = Math.max(0.02 * c.distance, c.distance - 12 * R),
      far = c.distance + 30 * R;
    const lens = c.flat
      ? M4.ortho((c.distance / f) * aspect, c.distance / f, -20 * R, far)
      : M4.perspective(f, aspect, near, far);
    return {
      ...b,
      camera: M4.times(lens, M4.seen(b.x, b.y, b.z, b.eye)),
      perPixel: (2 * c.distance) / f / Math.max(1, this.canvas.clientHeight),
    };
  }
  screen(p) {
    // pixels of the canvas
    const m = this.now || this.matrices(),
      q = [0, 1, 3].map(
        (i) =>
          m.camera[i] * p[0] + m.camera[4 + i] * p[1] + m.camera[8 + i] * p[2] + m.camera[12 + i],
      );
    return [
      ((q[0] / q[2] + 1) / 2) * this.canvas.clientWidth,
      ((1 - q[1] / q[2]) / 2) * this.canvas.clientHeight,
    ];
  }
  ray(px, py) {
    // [from, direction] through a pixel
    const m = this.matrices(),
      s = m.perPixel,
      dx = (px - this.canvas.clientWidth / 2) * s,
      dy = (this.canvas.clientHeight / 2 - py) * s;
    const on = V.add(V.add(this.camera.middle, m.x, dx), m.y, dy);
    return this.camera.flat
      ? [V.add(on, m.z, this.camera.distance), V.scale(m.z, -1)]
      : [m.eye, V.unit(V.add(on, m.eye, -1))];
  }
  onPlane(px, py, point, normal) {
    const [from, along] = this.ray(px, py),
      d = V.dot(along, normal);
    return Math.abs(d) < 1e-6
      ? null
      : V.add(from, along, V.dot(V.add(point, from, -1), normal) / d);
  }
  turn(dx, dy) {
    const c = this.camera;
    c.yaw -= 0.008 * dx;
    c.pitch = Math.min(1.56, Math.max(-1.56, c.pitch + 0.008 * dy));
  }
  pan(dx, dy) {
    const m = this.matrices(),
      c = this.camera;
    c.middle = V.add(V.add(c.middle, m.x, -dx * m.perPixel), m.y, dy * m.perPixel);
  }
  zoom(by) {
    const c = this.camera,
      R = this.header.radius;
    c.distance = Math.min(60 * R, Math.max(0.05 * R, c.distance * Math.exp(by)));
  }

  // ---------------------------------------------------------------- what is drawn, as [geometry, matrix, colour, id, glow, whether it is seen through everything]
  list() {
    const found = [],
      seen = this.layers;
    this.parts.forEach((p, k) => {
      if (!seen[p.layer]) return;
      const glow =
        this.selected &&
        (p.name === this.selected ||
          (this.header.bodies[p.body] === this.selected && p.layer === "bodies"))
          ? 1
          : 0;
      found.push([
        this.geometries[p.geometry],
        M4.times(this.at[p.body], p.local),
        p.colour,
        k + 1,
        glow,
        INNER.has(p.layer),
      ]);
    });
    this.header.spans.forEach((s, k) => {
      if (!seen[s.layer]) return;
      const a = this.place(s.start, s.at),
        b = this.place(s.end, s.to),
        d = V.length(V.add(b, a, -1));
      if (d > 1e-9)
        found.push([
          this.geometries[s.geometry],
          between(a, b, s.width),
          s.colour,
          20000 + k,
          this.selected === s.name ? 1 : 0,
        ]);
    });
    for (const e of this.extra)
      found.push([
        this.geometries[this.shape[e.shape]],
        e.at,
        e.colour,
        e.id || 0,
        e.glow || 0,
        true,
      ]);
    for (const a of this.arrows) {
      const d = V.add(a.to, a.from, -1),
        n = V.length(d),
        w = 0.016 * this.header.radius;
      if (n > 1e-9)
        found.push([
          this.geometries[this.shape["unit arrow"]],
          between(a.from, a.to, Math.min(w, n)),
          a.colour,
          0,
          0,
          true,
        ]);
      if (a.dot)
        found.push([
          this.geometries[this.shape.dot],
          M4.frame([w, 0, 0], [0, w, 0], [0, 0, w], a.from),
          a.colour,
          0,
          0,
          true,
        ]);
    }
    return found;
  }
  resize() {
    const c = this.canvas,
      q = QUALITY[this.quality],
      dense = q.draft ? q.scale : Math.min(2, window.devicePixelRatio || 1),
      w = Math.round(c.clientWidth * dense),
      h = Math.round(c.clientHeight * dense);
    if (c.width !== w || c.height !== h) {
      c.width = w;
      c.height = h;
    }
  }
  draw() {
    if (!this.header) return;
    this.resize();
    this.pictures++;
    const gl = this.gl,
      m = (this.now = this.matrices()),
      all = this.list(),
      light = this.sunlight(),
      q = QUALITY[this.quality];
    const kinds = [
      all.filter((o) => o[2][3] >= 0.99 && !o[5]),
      all.filter((o) => o[2][3] >= 0.99 && o[5]),
      all.filter((o) => o[2][3] < 0.99),
    ];
    if ((this.shadows = Boolean(q.shadows))) this.cast(kinds[0], light.matrix);
    gl.bindFramebuffer(gl.FRAMEBUFFER, q.samples ? this.paper() : null);
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    if (q.draft) this.sketch(kinds, m, light);
    else this.finish(kinds, m, light);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
    if (q.samples) {
      gl.bindFramebuffer(gl.READ_FRAMEBUFFER, this.sheet.frame);
      gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, null);
      gl.blitFramebuffer(
        0,
        0,
        this.sheet.w,
        this.sheet.h,
        0,
        0,
        this.sheet.w,
        this.sheet.h,
        gl.COLOR_BUFFER_BIT,
        gl.NEAREST,
      );
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }
  finish([solid, arrows, glass], m, light) {
    const gl = this.gl,
      far = (o) => V.dot([o[1][12], o[1][13], o[1][14]], m.z);
    this.solids(solid, m, light);
    gl.enable(gl.BLEND);
    gl.depthMask(false);
    this.floor(m, light);
    this.ribbons(m);
    this.solids(
      glass.sort((a, b) => far(a) - far(b)),
      m,
      light,
    );
    this.above();
    this.solids(arrows, m, light);
  }
  above() {
    const gl = this.gl;
    gl.disable(gl.BLEND);
    gl.depthMask(true);
    gl.clear(gl.DEPTH_BUFFER_BIT);
  } // what comes next is in front of everything: arrows and handles
  sketch([solid, arrows, glass], m, light) {
    const gl = this.gl,
      b = this.batch(solid, m, light);
    this.together(b, m.camera);
    gl.enable(gl.BLEND);
    gl.depthMask(false);
    this.ground(b, m, light);
    this.ribbons(m);
    if (glass.length) this.together(this.batch(glass, m, light), m.camera);
    if (arrows.length) {
      this.above();
      this.together(this.batch(arrows, m, light), m.camera);
    }
  }
  together(b, camera, tint = [0, 0, 0, 0]) {
    const gl = this.gl,
      p = this.programs.DRAFT;
    gl.useProgram(p.program);
    gl.uniformMatrix4fv(p.camera, false, camera);
    gl.uniform4fv(p.tint, tint);
    gl.bindVertexArray(b.vao);
    gl.drawElements(gl.TRIANGLES, b.count, gl.UNSIGNED_INT, 0);
  }
  eye(m) {
    return this.camera.flat ? V.add(this.camera.middle, m.z, 100 * this.header.radius) : m.eye;
  }
  ground(b, m, light) {
    // a draft's floor: lines, and the shadows of solids laid flat on it, each place darkened once
    const X = this.plane(m),
      h = this.header,
      gl = this.gl,
      p = this.programs.GRID;
    if (!X) return;
    const s = V.scale(light.sun, 1 / V.dot(light.sun, h.up)),
      u = h.up,
      o = V.scale(s, h.floor + 1e-3 * h.radius);
    const S = new Float32Array([
      1 - s[0] * u[0],
      -s[1] * u[0],
      -s[2] * u[0],
      0,
      -s[0] * u[1],
      1 - s[1] * u[1],
      -s[2] * u[1],
      0,
      -s[0] * u[2],
      -s[1] * u[2],
      1 - s[2] * u[2],
      0,
      ...o,
      1,
    ]);
    if (QUALITY[this.quality].flat) {
      gl.enable(gl.STENCIL_TEST);
      gl.stencilFunc(gl.EQUAL, 0, 255);
      gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
      this.together(b, M4.times(m.camera, S), [0.016, 0.02, 0.026, 0.13]);
      gl.disable(gl.STENCIL_TEST);
    }
    gl.useProgram(p.program);
    gl.uniformMatrix4fv(p.camera, false, m.camera);
    gl.uniformMatrix4fv(p.model, false, X);
    this.net.forEach((g, k) => {
      gl.uniform1f(p.ink, k ? 0.26 : 0.15);
      gl.bindVertexArray(g.vao);
      gl.drawElements(gl.LINES, g.count, gl.UNSIGNED_INT, 0);
    });
  }
  sunlight() {
    const h = this.header,
      { f, r, up } = this.base,
      sun = V.unit(V.add(V.add(V.scale(up, 1.0), f, 0.55), r, -0.45));
    const x = V.unit(V.cross(up, sun)),
      y = V.cross(sun, x),
      R = 1.25 * h.radius,
      eye = V.add(h.middle, sun, 3 * R);
    return { sun, matrix: M4.times(M4.ortho(R, R, 0.1 * R, 7 * R), M4.seen(x, y, sun, eye)) };
  }
  cast(solid, matrix) {
    const gl = this.gl,
      p = this.programs.DEPTH,
      s = this.shadow;
    gl.bindFramebuffer(gl.FRAMEBUFFER, s.frame);
    gl.viewport(0, 0, s.size, s.size);
    gl.enable(gl.DEPTH_TEST);
    gl.depthMask(true);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.useProgram(p.program);
    gl.uniformMatrix4fv(p.light, false, matrix);
    for (const [g, at] of solid) {
      gl.uniformMatrix4fv(p.model, false, at);
      gl.bindVertexArray(g.vao);
      gl.drawElements(gl.TRIANGLES, g.count, gl.UNSIGNED_INT, 0);
    }
  }
  lit(p, m, light) {
    const gl = this.gl;
    gl.useProgram(p.program);
    gl.uniformMatrix4fv(p.camera, false, m.camera);
    gl.uniformMatrix4fv(p.light, false, light.matrix);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.shadow.texture);
    gl.uniform1i(p.shadow, 0);
    gl.uniform1i(p.shadows, this.shadows ? 1 : 0);
  }
  solids(list, m, light) {
    const gl = this.gl,
      p = this.programs.SOLID;
    this.lit(p, m, light);
    gl.uniform3fv(p.eye, this.eye(m));
    gl.uniform3fv(p.sun, light.sun);
    gl.uniform3fv(p.up, this.header.up);
    for (const [g, at, colour, , glow] of list) {
      gl.uniformMatrix4fv(p.model, false, at);
      gl.uniform4fv(p.colour, colour);
      gl.uniform1f(p.glow, glow);
      gl.bindVertexArray(g.vao);
      gl.drawElements(gl.TRIANGLES, g.count, gl.UNSIGNED_INT, 0);
    }
  }
  plane(m) {
    // the pose of the floor, if it is seen from above
    const h = this.header,
      R = REACH * h.radius,
      { f, r, up } = this.base,
      o = V.add(V.add(V.scale(up, h.floor), f, V.dot(h.middle, f)), r, V.dot(h.middle, r));
    if (
      h.floor === null ||
      this.hideFloor ||
      V.dot(V.add(m.eye, o, -1), up) < 0 ||
      Math.abs(V.dot(m.z, up)) < 0.02
    )
      return null;
    return M4.frame(V.scale(r, R), V.scale(f, -R), up, o);
  }
  floor(m, light) {
    const X = this.plane(m),
      gl = this.gl,
      p = this.programs.FLOOR;
    if (!X) return;
    this.lit(p, m, light);
    gl.uniformMatrix4fv(p.model, false, X);
    gl.uniform1f(p.cell, this.header.cell / (REACH * this.header.radius));
    gl.uniform1f(p.reach, 1);
    gl.bindVertexArray(this.plate.vao);
    gl.drawElements(gl.TRIANGLES, 6, gl.UNSIGNED_INT, 0);
  }
  ribbons(m) {
    // trails: {points: flat numbers, colour, width in pixels, from, to: which points}
    const gl = this.gl,
      p = this.programs.RIBBON,
      c = this.canvas;
    gl.useProgram(p.program);
    gl.bindVertexArray(null);
    gl.uniformMatrix4fv(p.camera, false, m.camera);
    for (const t of this.trails) {
      const count = Math.floor(t.points.length / 3);
      if (count < 2) continue;
      gl.uniform2f(p.size, c.clientWidth / 2, c.clientHeight / 2);
      gl.uniform1f(p.width, t.width || 1.6);
      gl.uniform4fv(p.colour, t.colour);
      gl.bindBuffer(gl.ARRAY_BUFFER, this.segments);
      gl.bufferData(
        gl.ARRAY_BUFFER,
        t.points instanceof Float32Array ? t.points : new Float32Array(t.points),
        gl.DYNAMIC_DRAW,
      );
      for (const [k, o] of [
        [1, 0],
        [2, 12],
      ]) {
        gl.enableVertexAttribArray(k);
        gl.vertexAttribPointer(k, 3, gl.FLOAT, false, 12, o);
        gl.vertexAttribDivisor(k, 1);
      }
      gl.bindBuffer(gl.ARRAY_BUFFER, this.quad);
      gl.enableVertexAttribArray(0);
      gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 8, 0);
      gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, count - 1);
    }
    for (const k of [0, 1, 2]) {
      gl.vertexAttribDivisor(k, 0);
      gl.disableVertexAttribArray(k);
    }
  }
  pick(px, py) {
    // what is under a pixel: {part, span, id, point}, or null
    const gl = this.gl,
      p = this.programs.PICK,
      t = this.target,
      w = this.canvas.width,
      h = this.canvas.height,
      dense = w / this.canvas.clientWidth;
    const m = this.matrices(),
      all = this.list();
    gl.bindFramebuffer(gl.FRAMEBUFFER, t.frame);
    if (t.w !== w || t.h !== h) {
      gl.bindRenderbuffer(gl.RENDERBUFFER, t.colour);
      gl.renderbufferStorage(gl.RENDERBUFFER, gl.RGBA8, w, h);
      gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.RENDERBUFFER, t.colour);
      gl.bindRenderbuffer(gl.RENDERBUFFER, t.depth);
      gl.renderbufferStorage(gl.RENDERBUFFER, gl.DEPTH_COMPONENT24, w, h);
      gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, t.depth);
      t.w = w;
      t.h = h;
    }
    const x = Math.round(px * dense),
      y = h - 1 - Math.round(py * dense);
    gl.viewport(0, 0, w, h);
    gl.enable(gl.SCISSOR_TEST);
    gl.scissor(x - 3, y - 3, 7, 7);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.disable(gl.BLEND);
    gl.enable(gl.DEPTH_TEST);
    gl.depthMask(true);
    gl.useProgram(p.program);
    gl.uniformMatrix4fv(p.camera, false, m.camera);
    const priority = all.filter((o) => o[3] >= 60000),
      rest = all.filter((o) => o[3] && o[3] < 60000);
    for (const [g, at, , id] of [...rest, ...priority]) {
      if (id === (priority[0] || [])[3]) gl.clear(gl.DEPTH_BUFFER_BIT); // handles are in front
      gl.uniformMatrix4fv(p.model, false, at);
      gl.uniform1f(p.id, id);
      gl.bindVertexArray(g.vao);
      gl.drawElements(gl.TRIANGLES, g.count, gl.UNSIGNED_INT, 0);
    }
    const out = new Uint8Array(4 * 49);
    gl.readPixels(x - 3, y - 3, 7, 7, gl.RGBA, gl.UNSIGNED_BYTE, out);
    gl.disable(gl.SCISSOR_TEST);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    let best = null,
      near = 1e9;
    for (let k = 0; k < 49; k++) {
      const id = 256 * out[4 * k] + out[4 * k + 1],
        d = Math.hypot((k % 7) - 3, Math.floor(k / 7) - 3) - (id >= 60000 ? 10 : 0);
      if (id && d < near) {
        near = d;
        best = { id, z: (256 * out[4 * k + 2] + out[4 * k + 3]) / 65535 };
      }
    }
    if (!best) return null;
    const part = this.parts[best.id - 1],
      span = this.header.spans[best.id - 20000];
    return { id: best.id, part, span, point: this.unproject(px, py, best.z, m) };
  }
  unproject(px, py, depth, m) {
    const [from, along] = this.ray(px, py),
      row = (p, i) =>
        m.camera[i] * p[0] + m.camera[4 + i] * p[1] + m.camera[8 + i] * p[2] + m.camera[12 + i];
    const z = 2 * depth - 1,
      a = row(from, 2) - z * row(from, 3),
      one = V.add(from, along),
      b = row(one, 2) - z * row(one, 3);
    return V.add(from, along, a / (a - b));
  }
}
