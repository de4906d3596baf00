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

/** A parser for positive numbers up to `high`. */
export function positive(high: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!(value > 0 && value <= high)) throw new InvalidArgumentError(`Expected a number above 0, at most ${high}.`);
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

/** A list of row lengths such as `64,96,128`, or `auto`. */
export function lengths(text: string): number[] | "auto" {
  if (text === "auto") return text;
  return text.split(",").map(integer(4, 1_048_576));
}

/** A share such as `10%`, as 0.1. */
export function share(text: string): number {
  const percent = Number(/^(\d+(?:\.\d+)?) ?%$/.exec(text)?.[1] ?? NaN);
  if (Number.isNaN(percent)) throw new InvalidArgumentError("Expected a percentage such as 10%.");
  return percent / 100;
}
