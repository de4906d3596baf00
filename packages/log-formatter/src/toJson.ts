/** Any value as one line of JSON: NaN and infinities null, BigInts as strings, and a cycle cut with a note instead of an error. */
export function toJson(value: unknown): string {
  const open: unknown[] = [];
  const json = JSON.stringify(value, function (this: unknown, _key, item: unknown) {
    if (typeof item === "bigint") return String(item);
    if (typeof item !== "object" || item === null) return item;
    // `this` holds `item`: what is above it on the path stays open, the rest is closed.
    while (open.length > 0 && open.at(-1) !== this) open.pop();
    if (open.includes(item)) return "[circular]";
    open.push(item);
    return item;
  });
  return json ?? "null";
}
