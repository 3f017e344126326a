// A picture written pixel by pixel, for networks of so many links that paths would be slow.

class Pixels {
  constructor(width, height) {
    this.width = width;
    this.height = height;
    this.image = new ImageData(width, height);
    this.base = new Uint32Array(width * height);
    this.now = new Uint32Array(this.image.data.buffer);
    this.into = this.base;
    this.colors = new Map();
  }

  // A color of the style sheet as it lies in memory.
  color(text) {
    if (!this.colors.has(text)) {
      const [r, g, b] = text.startsWith("#")
        ? [1, 3, 5].map((i) => parseInt(text.length > 4 ? text.slice(i, i + 2) : text[(i + 1) / 2].repeat(2), 16))
        : text.match(/\d+/g).map(Number);
      this.colors.set(text, ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0);
    }
    return this.colors.get(text);
  }

  pen(text, wide) {
    this.ink = this.color(text);
    this.wide = Math.max(1, Math.round(wide));
  }

  dot(x, y) {
    const w = this.wide, a = Math.round(x - w / 2), b = Math.round(y - w / 2);
    if (a < 0 || b < 0 || a + w > this.width || b + w > this.height) return;
    for (let j = b; j < b + w; j++) for (let i = a, at = j * this.width; i < a + w; i++) this.into[at + i] = this.ink;
  }

  moveTo(x, y) { this.x = x; this.y = y; }

  lineTo(x, y) {
    const n = Math.ceil(Math.max(Math.abs(x - this.x), Math.abs(y - this.y)) / this.wide);
    if (n < 5000) for (let k = 0; k <= n; k++) this.dot(this.x + ((x - this.x) * k) / (n || 1), this.y + ((y - this.y) * k) / (n || 1));
    this.moveTo(x, y);
  }

  quadraticCurveTo(px, py, x, y) {
    const a = this.x, b = this.y;
    for (let k = 1; k <= 12; k++) {
      const f = k / 12, e = 1 - f;
      this.lineTo(e * e * a + 2 * e * f * px + f * f * x, e * e * b + 2 * e * f * py + f * f * y);
    }
  }
}
