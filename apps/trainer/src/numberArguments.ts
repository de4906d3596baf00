import { InvalidArgumentError } from "commander";

/** A parser for whole numbers within bounds, inclusive. */
export function integer(low: number, high: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!Number.isInteger(value) || value < low || value > high)
      throw new InvalidArgumentError(`Expected a whole number from ${low} to ${high}.`);
    return value;
  };
}

/** A parser for numbers within bounds, inclusive. */
export function between(low: number, high: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === "" || !(value >= low && value <= high))
      throw new InvalidArgumentError(`Expected a number from ${low} to ${high}.`);
    return value;
  };
}

/** A parser for numbers above a bound. */
export function above(low: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === "" || !(value > low && value < Infinity))
      throw new InvalidArgumentError(`Expected a number above ${low}.`);
    return value;
  };
}

/** A share such as `10%`, as 0.1. */
export function share(text: string): number {
  const percent = Number(/^(\d+(?:\.\d+)?) ?%$/.exec(text)?.[1] ?? NaN);
  if (Number.isNaN(percent)) throw new InvalidArgumentError("Expected a percentage such as 10%.");
  return percent / 100;
}
