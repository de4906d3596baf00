import type { ReportSnapshot } from "./report.ts";

/** One line in ms: the step, its sections by self time, the largest with its share, the rest, the timer's own cost. What rounds to 0.0 is left out. */
export function formatReport({ step, ms, residualMs, overheadUs, sections }: ReportSnapshot): string {
  const parts = Object.values(sections)
    .filter(({ selfMs }) => (selfMs ?? 0) >= 0.05)
    .toSorted((a, b) => b.selfMs! - a.selfMs!)
    .map(
      ({ name, selfMs }, rank) =>
        `  ${name} ${selfMs!.toFixed(1)}${rank > 0 ? "" : ` (${((100 * selfMs!) / ms).toFixed(1)} %)`}`,
    );
  return `step ${step}  ${ms.toFixed(1)} ms${parts.join("")}  rest ${residualMs.toFixed(1)}  timer ${(overheadUs / 1000).toFixed(3)}`;
}
