import * as Plot from "@observablehq/plot";
import { parseHTML } from "linkedom";
import type { Point, Run } from "./readRun.ts";

/** A recipe's run, under its name. */
export type NamedRun = readonly [name: string, run: Run];

const columns = 4;

/**
 * Acceptance length against what was spent, as SVG: a panel a recipe, the base's curve grey in each. Lines are simulated
 * lengths, dots real ones with twice their standard error.
 */
export function drawCurves(runs: readonly NamedRun[], spent: Exclude<keyof Point, "step">, label: string): string {
  const { document } = parseHTML("<html></html>");
  const [base, ...others] = runs;
  const panel = (i: number) => ({ fx: i % columns, fy: Math.floor(i / columns) });
  const curve = (run: Run, i: number, kind: "real" | "simulated") =>
    run[kind].map(({ mean, error, ...point }) => ({
      x: point[spent],
      y: mean,
      low: mean - 2 * error,
      high: mean + 2 * error,
      ...panel(i),
    }));
  const marks = (run: Run, i: number, stroke: string) => [
    Plot.line(curve(run, i, "simulated"), { x: "x", y: "y", fx: "fx", fy: "fy", stroke, strokeWidth: 1.5 }),
    Plot.ruleX(curve(run, i, "real"), { x: "x", y1: "low", y2: "high", fx: "fx", fy: "fy", stroke }),
    Plot.dot(curve(run, i, "real"), { x: "x", y: "y", fx: "fx", fy: "fy", fill: stroke, r: 3 }),
  ];
  const figure = Plot.plot({
    document,
    width: 900,
    height: 60 + 150 * Math.ceil(others.length / columns),
    marginLeft: 45,
    style: { background: "none" },
    x: { label, domain: [0, furthest(runs, spent)], ticks: 4 },
    y: { label: "acceptance length", grid: true, ticks: 4 },
    fx: { axis: null },
    fy: { axis: null },
    marks: others.flatMap(([name, run], i) => [
      ...marks(base![1], i, "#8c8c8c"),
      ...marks(run, i, "#2f81f7"),
      Plot.text([{ ...panel(i), text: name }], {
        fx: "fx",
        fy: "fy",
        text: "text",
        frameAnchor: "top-left",
        dx: 4,
        fontWeight: "bold",
      }),
    ]),
  });
  figure.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  // A picture in a page doesn't know the page's colours, but it knows the reader's preference.
  const style = document.createElement("style");
  style.textContent = "svg { color: #1f2328 } @media (prefers-color-scheme: dark) { svg { color: #d1d7e0 } }";
  figure.append(style);
  return `${figure.outerHTML}\n`;
}

function furthest(runs: readonly NamedRun[], spent: keyof Point): number {
  return Math.max(...runs.map(([, { end }]) => end[spent] ?? 0));
}
