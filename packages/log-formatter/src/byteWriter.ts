const minus = 45;
const point = 46;
const zero = 48;

/** The digits of 000 to 999. */
const digits = Uint8Array.from({ length: 3000 }, (_, i) => zero + (Math.floor(i / 3 / 10 ** (2 - (i % 3))) % 10));

/** Text as bytes, made once for what does not change from line to line. */
export function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Builds a line of UTF-8 in one buffer that is used again: three times as fast as strings when the numbers change. */
export class ByteWriter {
  private buffer = new Uint8Array(16_384);
  private length = 0;

  /** Starts a new line; bytes given out before are overwritten. */
  reset(): void {
    this.length = 0;
  }

  /** The line so far, valid until the next `reset`. */
  bytes(): Uint8Array {
    return this.buffer.subarray(0, this.length);
  }

  private reserve(more: number): void {
    if (this.length + more <= this.buffer.length) return;
    const larger = new Uint8Array(Math.max(this.buffer.length * 2, this.length + more));
    larger.set(this.buffer);
    this.buffer = larger;
  }

  raw(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    const { buffer } = this;
    let at = this.length;
    for (let i = 0; i < bytes.length; i++) buffer[at++] = bytes[i]!;
    this.length = at;
  }

  /** Text of any kind, lone surrogates replaced. */
  text(text: string): void {
    this.raw(encode(text));
  }

  /** Text of ASCII characters. */
  ascii(text: string): void {
    this.reserve(text.length);
    for (let i = 0; i < text.length; i++) this.buffer[this.length++] = text.charCodeAt(i);
  }

  /** A finite number in full, as JSON writes it; null for any other. */
  number(value: number | null): void {
    if (value !== null && value >= 0 && value < 1e9 && Number.isInteger(value)) {
      this.reserve(9);
      this.integer(value);
    } else this.ascii(value !== null && Number.isFinite(value) ? String(value) : "null");
  }

  /** A time to six decimals, so that milliseconds keep their nanoseconds; null for what is no finite number. */
  time(value: number | null): void {
    if (value === null || !Number.isFinite(value)) return this.ascii("null");
    const negative = value < 0;
    const size = negative ? -value : value;
    if (size >= 1e9) return this.ascii(String(value));
    let whole = Math.floor(size);
    let rest = Math.round((size - whole) * 1e6);
    if (rest === 1e6) {
      whole++;
      rest = 0;
    }
    this.reserve(18);
    if (negative && whole + rest > 0) this.buffer[this.length++] = minus;
    this.integer(whole);
    if (rest > 0) this.decimals(rest);
  }

  /** Digits of an integer below 2^31. */
  private integer(value: number): void {
    const { buffer } = this;
    if (value < 1000) {
      const at = value * 3;
      if (value >= 100) buffer[this.length++] = digits[at]!;
      if (value >= 10) buffer[this.length++] = digits[at + 1]!;
      buffer[this.length++] = digits[at + 2]!;
      return;
    }
    const thousands = Math.floor(value / 1000);
    this.integer(thousands);
    this.three(value - thousands * 1000);
  }

  private three(value: number): void {
    const { buffer } = this;
    const at = value * 3;
    buffer[this.length++] = digits[at]!;
    buffer[this.length++] = digits[at + 1]!;
    buffer[this.length++] = digits[at + 2]!;
  }

  /** Point and six decimals, trailing zeros left out. */
  private decimals(millionths: number): void {
    this.buffer[this.length++] = point;
    const thousandths = Math.floor(millionths / 1000);
    this.three(thousandths);
    if (thousandths * 1000 !== millionths) this.three(millionths - thousandths * 1000);
    while (this.buffer[this.length - 1] === zero) this.length--;
  }
}
