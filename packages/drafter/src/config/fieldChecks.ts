/**
 * Refuses a value in a file.
 *
 * @param place What the error names first, such as the file's path.
 * @throws {Error} One line that names the place, the field, its value and what was expected.
 */
export function refuseField(place: string, field: string, value: unknown, expected: string): never {
  const found = value == null ? "missing" : JSON.stringify(value).slice(0, 80);
  throw new Error(`${place}: ${field} is ${found}, expected ${expected}`);
}

/** A parsed JSON object; anything else is refused. */
export function jsonObject(value: unknown, place: string, field: string): Readonly<Record<string, unknown>> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  return refuseField(place, field, value, "an object");
}
