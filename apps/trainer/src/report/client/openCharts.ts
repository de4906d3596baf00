import uPlot from "uplot";

/** Charts on the page. */
const charts = new Set<uPlot>();
/** Charts whose cursors move together. */
export const sync: uPlot.SyncPubSub = uPlot.sync("steps");

/** Takes all charts away. */
export function clearCharts(): void {
  for (const each of charts) each.destroy();
  charts.clear();
}

/** All that is on the page. */
export const allCharts = (): readonly uPlot[] => [...charts];

/** Shows the same steps in all charts; null shows all. */
export function zoom(range: readonly [number, number] | null): void {
  for (const each of charts) {
    const steps = each.data[0];
    const [min, max] = range ?? [steps[0] ?? 0, steps.at(-1) ?? 1];
    each.setScale("x", { min, max });
  }
}

/** Lets a chart be zoomed, moved and taken away with the others. */
export const addChart = (chart: uPlot): void => void charts.add(chart);
