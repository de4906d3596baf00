/** A value from a file or an error, as one short line for a message. A system error is its code. */
export function oneLine(value: unknown): string {
  const line = textOf(value).replace(/\s+/g, " ");
  return line.length > 160 ? `${line.slice(0, 160)}…` : line;
}

function textOf(value: unknown): string {
  if (value instanceof Error) return "errno" in value && "code" in value ? String(value.code) : value.message;
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "missing");
}
