/* oxlint-disable-next-line no-control-regex -- what JSON leaves as it is, and a terminal or a reader of lines would obey */
const obeyed = /[\u007f-\u009f\u2028\u2029]/g;

/**
 * Any value as one line of JSON without control characters: NaN and infinities null, BigInts as strings, and a cycle cut with
 * a note instead of an error.
 */
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
  return json?.replaceAll(obeyed, escape) ?? "null";
}

function escape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
