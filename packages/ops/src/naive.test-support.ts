import type { RowRanges } from "@dflash/block-mask";

/** The ops in the plainest loops over Float64 values, straight from their formulas: what every engine is compared with. */
export const naive = {
  rows: (x: Float64Array, width: number, rows: Int32Array): Float64Array =>
    Float64Array.from([...rows].flatMap((row) => [...x.subarray(row * width, (row + 1) * width)])),

  rmsNorm(x: Float64Array, weight: Float64Array, epsilon: number): Float64Array {
    const size = weight.length;
    return x.map((value, i) => {
      const row = x.subarray(i - (i % size), i - (i % size) + size);
      const meanSquare = row.reduce((sum, element) => sum + element * element, 0) / size;
      return (value / Math.sqrt(meanSquare + epsilon)) * weight[i % size]!;
    });
  },

  linear(x: Float64Array, weight: Float64Array, inputs: number, bias?: Float64Array): Float64Array {
    const outputs = weight.length / inputs;
    return new Float64Array((x.length / inputs) * outputs).map((_, i) => {
      const [row, output] = [Math.floor(i / outputs), i % outputs];
      let sum = bias?.[output] ?? 0;
      for (let j = 0; j < inputs; j++) sum += x[row * inputs + j]! * weight[output * inputs + j]!;
      return sum;
    });
  },

  /** Element i of a head's first half and element i of its second half are one complex number, turned by the position's angle i. */
  rotary(x: Float64Array, cos: Float64Array, sin: Float64Array, positions: Int32Array, size: number): Float64Array {
    const [half, heads] = [size / 2, x.length / size / positions.length];
    return x.map((value, i) => {
      const [within, token] = [i % size, Math.floor(i / (heads * size))];
      const angle = positions[token]! * half + (within % half);
      const other = within < half ? -x[i + half]! : x[i - half]!;
      return value * cos[angle]! + other * sin[angle]!;
    });
  },

  attention(
    q: Float64Array,
    k: Float64Array,
    v: Float64Array,
    { heads, kvHeads, size, scale = size ** -0.5 }: { heads: number; kvHeads: number; size: number; scale?: number },
    { queryLength, bounds }: RowRanges,
  ): Float64Array {
    const y = new Float64Array(q.length);
    for (let row = 0; row < queryLength; row++) {
      const [start0 = 0, end0 = 0, start1 = 0, end1 = 0] = bounds.subarray(4 * row, 4 * row + 4);
      const keys = Array.from({ length: end1 }, (_, key) => key).filter(
        (key) => (key >= start0 && key < end0) || key >= start1,
      );
      for (let head = 0; head < heads; head++) {
        const kvHead = Math.floor(head / (heads / kvHeads));
        const at = (row * heads + head) * size;
        const exponentials = keys.map((key) => {
          let product = 0;
          for (let d = 0; d < size; d++) product += q[at + d]! * k[(key * kvHeads + kvHead) * size + d]!;
          return Math.exp(product * scale);
        });
        const total = exponentials.reduce((sum, value) => sum + value, 0);
        keys.forEach((key, index) => {
          for (let d = 0; d < size; d++) {
            y[at + d]! += (exponentials[index]! / total) * v[(key * kvHeads + kvHead) * size + d]!;
          }
        });
      }
    }
    return y;
  },

  swiglu: (gate: Float64Array, up: Float64Array): Float64Array =>
    gate.map((value, i) => (value / (1 + Math.exp(-value))) * up[i]!),

  /** Cross-entropy of each row of logits. */
  crossEntropy(logits: Float64Array, labels: Int32Array): Float64Array {
    const vocabulary = logits.length / labels.length;
    return Float64Array.from(labels, (label, row) => {
      const z = logits.subarray(row * vocabulary, (row + 1) * vocabulary);
      return Math.log(z.reduce((sum, value) => sum + Math.exp(value), 0)) - z[label]!;
    });
  },
};
