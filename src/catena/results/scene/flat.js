// Where a browser has no WebGL 2: the same scene painted on a flat canvas, triangles behind first. Slower and without shadows, and everything else works.
class FlatStage extends Stage {
  prepare() {
    this.pen = this.canvas.getContext("2d", { willReadFrequently: true });
    this.painted = [];
  }
  vao(vertices, faces) {
    return { vertices, faces, count: faces.length };
  }
  forget() {}
  pace() {}
  deform(g, vertices) {
    g.vertices = vertices;
    g.few = null;
  }
  draw() {
    if (!this.header) return;
    this.resize();
    const p = this.pen,
      dense = this.canvas.width / Math.max(1, this.canvas.clientWidth),
      m = (this.now = this.matrices()),
      sun = this.sunlight().sun;
    p.setTransform(dense, 0, 0, dense, 0, 0);
    p.clearRect(0, 0, this.canvas.clientWidth, this.canvas.clientHeight);
    const all = this.list();
    this.painted = all
      .filter((o) => !o[5])
      .flatMap((o) => this.facets(o, m, sun))
      .sort((a, b) => a.depth - b.depth);
    this.painted.forEach((t) => this.fill(t));
    for (const t of this.trails) this.line(t);
    for (const t of all
      .filter((o) => o[5])
      .flatMap((o) => this.facets(o, m, sun))
      .sort((a, b) => a.depth - b.depth))
      this.fill(t);
  }
  facets([shape, X, colour, id, glow], m, sun) {
    // the triangles of a solid on the canvas, with their colours
    const g = shape.few || shape,
      P = g.vertices,
      F = g.faces,
      n = P.length / 6,
      world = new Array(n),
      flat = new Array(n),
      found = [],
      eye = this.eye(m),
      up = this.header.up;
    for (let v = 0; v < n; v++) {
      world[v] = M4.point(X, [P[6 * v], P[6 * v + 1], P[6 * v + 2]]);
      flat[v] = this.screen(world[v]);
    }
    for (let k = 0; k < F.length; k += 3) {
      const [i, j, l] = [F[k], F[k + 1], F[k + 2]],
        a = world[i],
        b = world[j],
        c = world[l],
        turn =
          (flat[j][0] - flat[i][0]) * (flat[l][1] - flat[i][1]) -
          (flat[j][1] - flat[i][1]) * (flat[l][0] - flat[i][0]);
      if (turn >= 0 && colour[3] > 0.99) continue; // seen from behind: another one is in front of it
      let N = V.unit(V.cross(V.add(b, a, -1), V.add(c, a, -1)));
      if (V.dot(N, V.add(eye, a, -1)) < 0) N = V.scale(N, -1);
      const light = Math.sqrt(0.44 + 0.1 * V.dot(N, up) + 0.86 * Math.max(0, V.dot(N, sun))),
        [r, s, t] = [0, 1, 2].map((i) =>
          Math.round(255 * Math.min(1, (colour[i] + 0.16 * glow) * light)),
        );
      found.push({
        id,
        at: [flat[F[k]], flat[F[k + 1]], flat[F[k + 2]]],
        depth: V.dot(V.add(V.add(a, b), c), m.z),
        ink: `rgba(${r},${s},${t},${colour[3]})`,
        solid: colour[3] > 0.99,
        point: a,
        normal: N,
      });
    }
    return found;
  }
  fill({ at, ink, solid }) {
    const p = this.pen;
    p.beginPath();
    p.moveTo(...at[0]);
    p.lineTo(...at[1]);
    p.lineTo(...at[2]);
    p.closePath();
    p.fillStyle = ink;
    p.fill();
    if (solid) {
      p.strokeStyle = ink;
      p.lineWidth = 0.7;
      p.stroke();
    } // no gaps between neighbours
  }
  line({ points, colour, width = 1.6 }) {
    const p = this.pen;
    p.beginPath();
    for (let k = 0; k + 2 < points.length; k += 3)
      p.lineTo(...this.screen([points[k], points[k + 1], points[k + 2]]));
    p.strokeStyle = `rgba(${colour
      .slice(0, 3)
      .map((x) => Math.round(255 * x))
      .join()},${colour[3]})`;
    p.lineWidth = width;
    p.stroke();
  }
  pick(px, py) {
    const side = (a, b) => (b[0] - a[0]) * (py - a[1]) - (b[1] - a[1]) * (px - a[0]);
    const hit = this.painted
      .filter((t) => t.id && t.solid)
      .findLast(({ at: [a, b, c] }) => {
        const s = [side(a, b), side(b, c), side(c, a)];
        return s.every((x) => x >= 0) || s.every((x) => x <= 0);
      });
    return hit
      ? {
          id: hit.id,
          part: this.parts[hit.id - 1],
          span: this.header.spans[hit.id - 20000],
          point: this.onPlane(px, py, hit.point, hit.normal) || hit.point,
        }
      : null;
  }
}
function stageOn(canvas) {
  // the stage that this browser can have
  const probe = document.createElement("canvas").getContext("webgl2");
  if (probe) {
    const lose = probe.getExtension("WEBGL_lose_context");
    if (lose) lose.loseContext();
    return new Stage(canvas);
  }
  return new FlatStage(canvas);
}
