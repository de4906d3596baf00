import uPlot from "uplot";

/** Charts on the page. */
const charts = new Set<uPlot>();
/** Charts whose cursors move together. */
export const sync: uPlot.SyncPubSub = uPlot.sync("steps");

/** The steps that all charts show; null for all. */
let shown: readonly [number, number] | null = null;

/** Takes all charts away. */
export function clearCharts(): void {
  for (const each of charts) each.destroy();
  charts.clear();
}

/** All that is on the page. */
export const allCharts = (): readonly uPlot[] => [...charts];

/** Shows the same steps in all charts, and in those to come; null shows all. */
export function zoom(range: readonly [number, number] | null): void {
  shown = range;
  for (const each of charts) {
    const steps = each.data[0];
    // Of no width a scale can't be drawn.
    if (steps.length < 2) continue;
    const [min, max] = range ?? [steps[0] ?? 0, steps.at(-1) ?? 1];
    each.setScale("x", { min, max });
  }
}

/** Lets a chart be zoomed, moved and taken away with the others. */
export function addChart(chart: uPlot): void {
  charts.add(chart);
  if (shown) chart.setScale("x", { min: shown[0], max: shown[1] });
}

/** Takes the cursor out of all charts. */
export function leaveCharts(): void {
  for (const each of charts) each.setCursor({ left: -10, top: -10 });
}
