/** Row lengths that share a shape: powers of two and the numbers halfway between, from 32 to the first that holds `longest`. */
export function lengthBuckets(longest: number): number[] {
  const lengths = [32];
  for (let length = 32; length < longest; length *= 2) lengths.push(1.5 * length, 2 * length);
  return lengths.slice(0, lengths.findIndex((length) => length >= longest) + 1);
}
