import type { LineBuffer } from "../lineBytes.ts";
import { printable } from "../printable.ts";

const newline = 10;

/** Head of a metric family. */
export function family(name: string, type: "counter" | "gauge" | "summary", help: string): string {
  return `# HELP dflash_${name} ${help}\n# TYPE dflash_${name} ${type}\n`;
}

/** Labels of a series, `{section="data"}`. */
export function labels(values: Record<string, string>): string {
  return `{${Object.entries(values)
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
    .join(",")}}`;
}

function escapeLabel(text: string): string {
  return printable(text.replaceAll("\n", " ")).replaceAll("\\", "\\\\").replaceAll('"', '\\"');
}

/** Ends a line. */
export function putLine(b: LineBuffer, at: number): number {
  b.bytes[at] = newline;
  return at + 1;
}
