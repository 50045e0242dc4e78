// ---------------------------------------------------------------- poses of a film: position and quaternion of every body at equal times
class Film {
  constructor(times, numbers, bodies) {
    this.times = times;
    this.data = numbers;
    this.bodies = bodies;
    this.out = new Float32Array(12 * bodies);
  }
  get first() {
    return this.times[0];
  }
  get last() {
    return this.times[this.times.length - 1];
  }
  at(time) {
    const n = this.times.length,
      t = this.times;
    let k = 0,
      hi = n - 1;
    while (hi - k > 1) {
      const mid = (k + hi) >> 1;
      if (t[mid] <= time) k = mid;
      else hi = mid;
    }
    const s = n > 1 ? Math.min(1, Math.max(0, (time - t[k]) / (t[k + 1] - t[k] || 1))) : 0,
      d = this.data,
      B = this.bodies,
      out = this.out;
    for (let b = 0; b < B; b++) {
      const i = 7 * (k * B + b),
        j = n > 1 ? i + 7 * B : i,
        q = [0, 0, 0, 0];
      let sign = 0;
      for (let c = 0; c < 4; c++) sign += d[i + 3 + c] * d[j + 3 + c];
      sign = sign < 0 ? -1 : 1;
      for (let c = 0; c < 4; c++) q[c] = d[i + 3 + c] + s * (sign * d[j + 3 + c] - d[i + 3 + c]);
      const l = Math.hypot(q[0], q[1], q[2], q[3]) || 1,
        w = q[0] / l,
        x = q[1] / l,
        y = q[2] / l,
        z = q[3] / l,
        o = 12 * b;
      out[o] = 1 - 2 * (y * y + z * z);
      out[o + 1] = 2 * (x * y - w * z);
      out[o + 2] = 2 * (x * z + w * y);
      out[o + 4] = 2 * (x * y + w * z);
      out[o + 5] = 1 - 2 * (x * x + z * z);
      out[o + 6] = 2 * (y * z - w * x);
      out[o + 8] = 2 * (x * z - w * y);
      out[o + 9] = 2 * (y * z + w * x);
      out[o + 10] = 1 - 2 * (x * x + y * y);
      for (let c = 0; c < 3; c++) out[o + 4 * c + 3] = d[i + c] + s * (d[j + c] - d[i + c]);
    }
    return out;
  }
}

// ---------------------------------------------------------------- forces along a film: what joints do to their children, and contacts where they touch
class Forces {
  constructor(m, numbers) {
    // m: { times, joints, bodies, points, contacts }, what `forces.py` writes; numbers: pull, place and push, row by row
    Object.assign(this, m);
    this.data = numbers;
    this.wide = 3 * m.joints.length + 6 * m.contacts.length;
    const most = (from, count) => {
      let x = 0;
      for (let k = 0; k < m.times.length; k++)
        for (let j = 0; j < count; j++) x = Math.max(x, Math.hypot(...this.three(k, from + 3 * j)));
      return x;
    };
    this.most = Math.max(
      1e-9,
      most(0, m.joints.length),
      most(3 * (m.joints.length + m.contacts.length), m.contacts.length),
    );
  }
  three(row, at) {
    const o = this.wide * row + at;
    return [this.data[o], this.data[o + 1], this.data[o + 2]];
  }
  arrows(now, stage, joints, contacts) {
    // the largest of the run is a third of what is seen
    const n = this.joints.length,
      c = this.contacts.length,
      t = this.times,
      scale = (0.66 * stage.header.radius) / this.most,
      found = [];
    let row = 0,
      hi = t.length;
    while (hi - row > 1) {
      const mid = (row + hi) >> 1;
      if (t[mid] <= now + 1e-9) row = mid;
      else hi = mid;
    }
    if (joints)
      for (let j = 0; j < n; j++) {
        const from = stage.place(this.bodies[j], this.points[j]);
        found.push({
          from,
          to: V.add(from, this.three(row, 3 * j), scale),
          colour: [0.6, 0.32, 0.86, 1],
        });
      }
    if (contacts)
      for (let j = 0; j < c; j++) {
        const f = this.three(row, 3 * (n + c + j)),
          from = this.three(row, 3 * (n + j));
        if (V.length(f) > 0.01 * this.most)
          found.push({ from, to: V.add(from, f, scale), colour: [0.93, 0.16, 0.12, 1], dot: true });
      }
    return found;
  }
}
