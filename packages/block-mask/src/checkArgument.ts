/** Throws a RangeError unless `value` is an integer with least ≤ value ≤ most; `name` is the argument as the caller wrote it. */
export function checkInteger(name: string, value: number, least: number, most: number = 2 ** 31 - 1): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new RangeError(`${name} must be an integer from ${least} to ${most}, got ${value}`);
}

/** Throws a RangeError unless `length`, of the argument `name`, is `expected`; `what` says what is counted. */
export function checkLength(name: string, length: number, expected: number, what: string): void {
  if (length !== expected) throw new RangeError(`${name} must hold ${expected} values (${what}), got ${length}`);
}

/** Throws a RangeError unless `starts` are row boundaries: at least two, the first 0, none below the one before it. */
export function checkRowStarts(name: string, starts: Int32Array): void {
  if (starts.length < 2)
    throw new RangeError(
      `${name} must hold the start of each row and the end of the last, got ${starts.length} values`,
    );
  if (starts[0] !== 0) throw new RangeError(`${name}[0] must be 0, got ${starts[0]}`);
  for (let row = 1; row < starts.length; row++) {
    if (starts[row]! < starts[row - 1]!) {
      throw new RangeError(
        `${name}[${row}] must not be below ${name}[${row - 1}] = ${starts[row - 1]}, got ${starts[row]}`,
      );
    }
  }
}

/** `index`, of the argument `name`, if 0 ≤ index < length; throws a RangeError otherwise. */
export function checkedIndex(name: string, index: number, length: number): number {
  checkInteger(name, index, 0, length - 1);
  return index;
}
