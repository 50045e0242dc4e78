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
