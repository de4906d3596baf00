import type { ReportSnapshot } from "./timer.ts";

/** One line: the step, its largest sections with their shares, the rest, the timer's own cost; milliseconds. */
export function formatReport(report: ReportSnapshot): string {
  const parts = Object.entries(report.sections)
    .filter(([, section]) => section.selfMs !== null)
    .sort(([, a], [, b]) => b.selfMs! - a.selfMs!)
    .map(
      ([name, { selfMs }], rank) =>
        `${name} ${selfMs!.toFixed(1)}${rank === 0 && report.ms > 0 ? ` (${((100 * selfMs!) / report.ms).toFixed(1)} %)` : ""}`,
    );
  parts.push(`rest ${report.residualMs.toFixed(1)}`, `timer ${(report.overheadUs / 1000).toFixed(3)}`);
  return `step ${report.step}  ${report.ms.toFixed(1)} ms  ${parts.join("  ")}`;
}
