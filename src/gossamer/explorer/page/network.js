// Where nodes and links are on the canvas: a view of one scene, in the plane or in space.

class View {
  constructor(scene, box) {
    this.scene = scene;
    this.box = box;
    this.canvas = box.querySelector("canvas");
    this.solid = false;
    this.turn = [-0.62, 0.33];
    this.zoom = 1;
    this.shift = [0, 0];
    this.x = new Float32Array(scene.nodes);
    this.y = new Float32Array(scene.nodes);
    this.flat = this.extent(scene.place, 2);
    this.deep = scene.space.length ? this.extent(scene.space, 3) : null;
  }

  extent(place, k) {
    const low = new Array(k).fill(Infinity), high = new Array(k).fill(-Infinity);
    for (let i = 0; i < place.length; i++) {
      low[i % k] = Math.min(low[i % k], place[i]);
      high[i % k] = Math.max(high[i % k], place[i]);
    }
    return { low, high };
  }

  // Asks for the size of the canvas and the pixels of a unit once: asking is slow.
  measure() {
    this.width = this.canvas.clientWidth;
    this.height = this.canvas.clientHeight;
    this.unit = this.pixelsOfUnit();
    this.radius = Math.max(1.2, Math.min(this.unit * (this.solid ? 0.13 : 0.23), 20));
  }

  pixelsOfUnit() {
    if (this.solid) {
      const d = Math.hypot(...this.deep.high.map((h, i) => h - this.deep.low[i])) + 1;
      return (Math.min(this.width, this.height) / d) * 0.95 * this.zoom;
    }
    const [w, h] = [0, 1].map((i) => this.flat.high[i] - this.flat.low[i] + 1.6);
    return Math.min((this.width - 16) / w, (this.height - 40) / h, 90) * this.zoom;
  }

  project() {
    const s = this.scene, u = this.unit, cx = this.width / 2 + this.shift[0], cy = this.height / 2 + this.shift[1];
    if (!this.solid) {
      const mx = (this.flat.low[0] + this.flat.high[0]) / 2, my = (this.flat.low[1] + this.flat.high[1]) / 2;
      for (let v = 0; v < s.nodes; v++) {
        this.x[v] = cx + (s.place[2 * v] - mx) * u;
        this.y[v] = cy - (s.place[2 * v + 1] - my) * u;
      }
      this.axes = [[u, 0], [0, -u]];
      return;
    }
    const m = this.deep.low.map((a, i) => (a + this.deep.high[i]) / 2);
    const [ca, sa, cb, sb] = [Math.cos(this.turn[0]), Math.sin(this.turn[0]), Math.cos(this.turn[1]), Math.sin(this.turn[1])];
    // screen directions of the three axes, seen along a turned line of sight
    this.axes = [[sa * u, -sb * ca * u], [0, cb * u], [ca * u, sb * sa * u]];
    for (let v = 0; v < s.nodes; v++) {
      let x = cx, y = cy;
      for (let i = 0; i < 3; i++) {
        const d = s.space[3 * v + i] - m[i];
        x += d * this.axes[i][0];
        y += d * this.axes[i][1];
      }
      this.x[v] = x;
      this.y[v] = y;
    }
  }

  // The direction on the screen in which a link leaves, and whether it is drawn as two stubs.
  stub(l) {
    const s = this.scene;
    if (!this.solid)
      return s.shape[l] === 2 ? [s.direction[2 * l] * this.unit, -s.direction[2 * l + 1] * this.unit] : null;
    for (let i = 0; i < 3; i++) {
      const d = s.space[3 * s.target[l] + i] - s.space[3 * s.source[l] + i];
      if (Math.abs(d) > 1.5) return this.axes[i].map((c) => -Math.sign(d) * c);
    }
    return null;
  }

  // Both directions of an edge lie apart, each on its right.
  aside(dx, dy) {
    const n = Math.hypot(dx, dy) || 1, o = Math.min(this.unit * 0.07, 5);
    return [(-dy / n) * o, (dx / n) * o];
  }

  // The point of link l at the share f of its way.
  point(l, f) {
    const s = this.scene, a = s.source[l], b = s.target[l], d = this.stub(l);
    if (d) {
      const [ox, oy] = this.aside(d[0], d[1]), reach = 0.62;
      if (f < 0.5) return [this.x[a] + d[0] * reach * 2 * f + ox, this.y[a] + d[1] * reach * 2 * f + oy];
      const g = reach * 2 * (1 - f);
      return [this.x[b] - d[0] * g + ox, this.y[b] - d[1] * g + oy];
    }
    const dx = this.x[b] - this.x[a], dy = this.y[b] - this.y[a];
    if (!this.solid && s.shape[l] === 1) {
      const [px, py] = this.bend(l, dx, dy), g = 1 - f;
      return [g * g * this.x[a] + 2 * g * f * px + f * f * this.x[b], g * g * this.y[a] + 2 * g * f * py + f * f * this.y[b]];
    }
    const [ox, oy] = this.aside(dx, dy);
    return [this.x[a] + dx * f + ox, this.y[a] + dy * f + oy];
  }

  bend(l, dx, dy) {
    const n = Math.hypot(dx, dy) || 1, u = this.unit, bulge = (0.42 + 0.1 * Math.max(n / u - 2, 0)) * 2 * u;
    const a = this.scene.source[l];
    return [this.x[a] + dx / 2 - (dy / n) * bulge, this.y[a] + dy / 2 + (dx / n) * bulge];
  }

  // Adds link l to a path.
  trace(path, l) {
    const s = this.scene, a = s.source[l], b = s.target[l], d = this.stub(l);
    if (d) {
      const [ox, oy] = this.aside(d[0], d[1]);
      path.moveTo(this.x[a] + ox, this.y[a] + oy);
      path.lineTo(this.x[a] + d[0] * 0.62 + ox, this.y[a] + d[1] * 0.62 + oy);
      path.moveTo(this.x[b] - d[0] * 0.62 + ox, this.y[b] - d[1] * 0.62 + oy);
      path.lineTo(this.x[b] + ox, this.y[b] + oy);
      return;
    }
    const dx = this.x[b] - this.x[a], dy = this.y[b] - this.y[a];
    if (!this.solid && s.shape[l] === 1) {
      path.moveTo(this.x[a], this.y[a]);
      path.quadraticCurveTo(...this.bend(l, dx, dy), this.x[b], this.y[b]);
      return;
    }
    const [ox, oy] = this.aside(dx, dy);
    path.moveTo(this.x[a] + ox, this.y[a] + oy);
    path.lineTo(this.x[b] + ox, this.y[b] + oy);
  }

  // The pixels from end to end of what is drawn of link l, 0 where it lies beside the canvas.
  length(l) {
    const s = this.scene, a = s.source[l], b = s.target[l], d = this.stub(l);
    const beside = (x, y, most) => (x < 0 && y < 0) || (x > most && y > most);
    if (beside(this.x[a], this.x[b], this.width) || beside(this.y[a], this.y[b], this.height)) return 0;
    return d ? 1.24 * Math.hypot(d[0], d[1]) : Math.min(Math.hypot(this.x[b] - this.x[a], this.y[b] - this.y[a]), this.width + this.height);
  }

  // What lies under a place of the canvas: {node}, {link} or null.
  under(px, py) {
    const s = this.scene, near = Math.max(this.radius, 5) ** 2;
    let best = near, node = -1;
    for (let v = 0; v < s.nodes; v++) {
      const d = (this.x[v] - px) ** 2 + (this.y[v] - py) ** 2;
      if (d <= best) { best = d; node = v; }
    }
    if (node >= 0) return { node };
    let link = -1;
    best = 49;
    for (let l = 0; l < s.linkCount; l++)
      for (let k = 0; k <= 8; k++) {
        const [x, y] = this.point(l, k / 8), d = (x - px) ** 2 + (y - py) ** 2;
        if (d < best) { best = d; link = l; }
      }
    if (link < 0) for (let l = 0; l < s.linkCount; l++) {
      if (this.stub(l)) continue;
      const [ax, ay] = this.point(l, 0), [bx, by] = this.point(l, 1), w = (bx - ax) ** 2 + (by - ay) ** 2;
      const f = Math.min(1, Math.max(0, ((px - ax) * (bx - ax) + (py - ay) * (by - ay)) / (w || 1)));
      const d = (ax + f * (bx - ax) - px) ** 2 + (ay + f * (by - ay) - py) ** 2;
      if (d < best) { best = d; link = l; }
    }
    return link >= 0 ? { link } : null;
  }
}
