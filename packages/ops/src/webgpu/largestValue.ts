/**
 * In a kernel of `threads` a row, with its `reductions`: `most`, the largest of the values at `c` below `width`, and
 * `first`, the index of the first of those.
 */
export const largestValue = (threads: number, value: string, width: string): string => `
  var best = -3.4e38;
  var bestAt = 0u;
  for (var c = thread; c < ${width}; c += ${threads}u) {
    if (${value} > best || c == thread) { best = ${value}; bestAt = c; }
  }
  let most = largest(best, thread);
  let first = u32(-largest(select(-1e9, -f32(bestAt), thread < ${width} && best == most), thread));`;
