// Where the time went, as a bar a step: pnpm dflash train --log-format examples/custom-formatter/formatter.ts
import type { LogFormatter, StepRecord } from "@dflash/log-formatter";

const width = 40;
const shades = ["█", "▓", "▒", "░"];

/** The sections that took most time themselves. */
function biggest({ sections }: StepRecord): string[] {
  const times = Object.entries(sections).map(([name, { self_ms }]): [string, number] => [name, self_ms ?? 0]);
  const sorted = times.toSorted((a, b) => b[1] - a[1]);
  return sorted.slice(0, shades.length).map(([name]) => name);
}

export default (): LogFormatter => {
  let shown: string[] | undefined;
  return {
    step(record) {
      const first = shown === undefined;
      shown ??= biggest(record);
      const legend = shown.map((name, index) => `${shades[index]} ${name.replaceAll(/[^\w/.-]/g, "?")}`).join("  ");
      const shares = shown.map((name) => (record.sections[name]?.self_ms ?? 0) / record.ms);
      const bar = shares.map((share, index) => shades[index]?.repeat(cells(share))).join("");
      const line = `${String(record.step).padStart(6)} ${bar.padEnd(width)} ${Math.round(record.ms)} ms\n`;
      return first ? `${legend}\n${line}` : line;
    },
  };
};

/** Cells of the bar; a number that is none takes no room. */
function cells(share: number): number {
  return share > 0 && share <= 1 ? Math.round(share * width) : 0;
}
