import { allCharts, leaveCharts, zoom } from "./openCharts.ts";

/** Keys and what they do, for the page's foot. */
export const keys: readonly (readonly [key: string, does: string])[] = [
  ["← →", "step by step"],
  ["⇧← ⇧→", "ten at a time"],
  ["+ −", "zoom"],
  ["0", "all steps"],
  ["Esc", "leave the charts"],
  ["t", "light or dark"],
];

/** Moves the cursor of all charts, and zooms, by keys. */
export function listenToKeys(toggleTheme: () => void): void {
  let at: number | null = null;
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const moves: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 };
    const move = moves[event.key];
    if (move !== undefined) at = moveCursor(at, move * (event.shiftKey ? 10 : 1));
    else if (event.key === "Home") at = moveCursor(0, 0);
    else if (event.key === "End") at = moveCursor(Infinity, 0);
    else if (event.key === "+" || event.key === "=") scale(0.5, at);
    else if (event.key === "-") scale(2, at);
    else if (event.key === "0") zoom(null);
    else if (event.key === "Escape") at = leave();
    else if (event.key === "t") toggleTheme();
    else return;
    event.preventDefault();
  });
}

/** Puts every chart's cursor on a bin, and says which. */
function moveCursor(from: number | null, by: number): number | null {
  const [first] = allCharts();
  if (!first) return null;
  const last = first.data[0].length - 1;
  const at = Math.max(0, Math.min(last, (from ?? first.cursor.idx ?? (by < 0 ? last + 1 : -1)) + by));
  const step = first.data[0][at]!;
  for (const chart of allCharts()) chart.setCursor({ left: chart.valToPos(step, "x"), top: 10 });
  return at;
}

/** Shows the end of all steps again. */
function leave(): null {
  leaveCharts();
  zoom(null);
  return null;
}

/** Steps that a chart shows at least: of no width it can't be drawn. */
const narrowest = 1;

/** Shows a part of the steps around the cursor, or more of them. */
function scale(factor: number, at: number | null): void {
  const [first] = allCharts();
  if (!first) return;
  const steps = first.data[0];
  const { min, max } = first.scales["x"]!;
  const [low, high] = [min ?? steps[0]!, max ?? steps.at(-1)!];
  const middle = at === null ? (low + high) / 2 : steps[at]!;
  const half = Math.max(narrowest, (high - low) * factor) / 2;
  zoom([Math.max(steps[0]!, middle - half), Math.min(steps.at(-1)!, middle + half)]);
}
