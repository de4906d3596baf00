import { displayWidth, printable } from "../printable.ts";
import type { RunTimes, SectionTimesStats } from "./sectionTimes.ts";

/** A section in two runs. */
export interface SectionChange {
  /** The section, or the whole step. */
  name: string;
  /** Null where a run has no such section. */
  before: SectionTimesStats | null;
  /** As `before`, of the other run. */
  after: SectionTimesStats | null;
  /** Of the median: 0.1 is ten percent slower; null where there is nothing to compare. */
  change: number | null;
  /** The medians differ by more than chance would explain, and by at least 0.1 % of the step. */
  certain: boolean;
}

/** Standard errors that medians must lie apart. */
const certainErrors = 3;
const leastShareOfStep = 0.001;

/** Section by section what became slower or faster, in the order of the first run. */
export function compareTimes(before: RunTimes, after: RunTimes): SectionChange[] {
  const step = before.get("(step)")?.median ?? 0;
  return [...new Set([...before.keys(), ...after.keys()])].map((name) => {
    const [old, now] = [before.get(name) ?? null, after.get(name) ?? null];
    if (old === null || now === null) return { name, before: old, after: now, change: null, certain: false };
    const difference = now.median - old.median;
    const error = Math.hypot(standardError(old), standardError(now));
    const certain = Math.abs(difference) > certainErrors * error && Math.abs(difference) >= leastShareOfStep * step;
    return { name, before: old, after: now, change: old.median > 0 ? difference / old.median : null, certain };
  });
}

/** Sections that became slower by more than `share`, for certain; worst first. */
export function regressions(changes: readonly SectionChange[], share: number): SectionChange[] {
  return changes
    .filter(({ change, certain }) => certain && change !== null && change > share)
    .toSorted((a, b) => b.change! - a.change!);
}

/** Of a median, from the quartiles of a near-normal sample: 1.2533 σ / √n with σ = (p75 - p25) / 1.349. One step tells no spread. */
function standardError({ n, p25, p75 }: SectionTimesStats): number {
  if (n < 2) return Infinity;
  return (1.2533 * (p75 - p25)) / 1.349 / Math.sqrt(n);
}

/** The comparison as a table for people: medians, half the distance of the quartiles, change. */
export function formatComparison(changes: readonly SectionChange[]): string {
  const rows = changes.map(({ name, before, after, change, certain }) => [
    printable(name),
    spread(before),
    spread(after),
    change === null ? "" : `${change < 0 ? "-" : "+"}${Math.abs(change * 100).toFixed(1)} %`,
    before === null
      ? "new"
      : after === null
        ? "gone"
        : !certain
          ? ""
          : change !== null && change < 0
            ? "faster"
            : "slower",
  ]);
  const table = [["section", "before ms", "after ms", "change", ""], ...rows];
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => displayWidth(row[column]!))));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) =>
        column % 4 === 0
          ? cell + blank(widths[column]! - displayWidth(cell))
          : blank(widths[column]! - displayWidth(cell)) + cell,
      )
      .join("  ");
  return table.map((row) => `${line(row).trimEnd()}\n`).join("");
}

function spread(times: SectionTimesStats | null): string {
  return times === null ? "-" : `${times.median.toFixed(3)} ± ${((times.p75 - times.p25) / 2).toFixed(3)}`;
}

function blank(width: number): string {
  return " ".repeat(Math.max(0, width));
}
