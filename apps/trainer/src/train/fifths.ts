/** Means of a value over each fifth of the steps, in order; empty fifths are null. */
export function fifths(values: readonly (number | null)[]): (number | null)[] {
  return Array.from({ length: 5 }, (_, fifth) => {
    const from = Math.floor((fifth * values.length) / 5);
    const to = Math.floor(((fifth + 1) * values.length) / 5);
    const known = values.slice(from, to).filter((value) => value !== null);
    return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
  });
}
