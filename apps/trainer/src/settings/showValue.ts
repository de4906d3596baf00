/** A setting's value as a line of a message shows it: text as it is, unless that is a number's. */
export function showValue(value: unknown): string {
  // JSON has no word for NaN and infinity.
  const isPlain = typeof value === "number" || (typeof value === "string" && !isNumeric(value));
  const line = (isPlain ? String(value) : (JSON.stringify(value) ?? String(value))).replaceAll(/\p{Cc}/gu, " ");
  return line.length > 60 ? `${line.slice(0, 59)}…` : line || '""';
}

/** Whether text reads as a number. */
export const isNumeric = (text: string): boolean => text.trim() !== "" && !Number.isNaN(Number(text));
