import type { RunData } from "../runData.ts";
import { heading } from "./breakdown.ts";
import { chartFigure } from "./chartFigure.ts";
import { element } from "./element.ts";
import { time } from "./format.ts";
import { smooth } from "./smooth.ts";
import type { Stage } from "./stages.ts";

/** Wall time by part of the step, one chart a run on one scale. */
export function timeOverSteps(
  runs: readonly RunData[],
  stages: readonly (readonly Stage[])[],
  colors: ReadonlyMap<string, string>,
): HTMLElement {
  const smoothed = runs.map(({ stepMs }) => smooth(stepMs, Math.round(stepMs.length / 100)));
  const known = smoothed.flatMap((series) => series.map((ms) => ms ?? 0));
  const usual = known.toSorted((a, b) => a - b)[Math.floor(0.9 * (known.length - 1))] ?? 0;
  // Steps with an evaluation are many times as long as the others, which they must not press flat.
  const highest = Math.min(Math.max(...known), 2.5 * usual);
  return element(
    "section",
    {},
    heading(
      "Wall time by section",
      "ms a step, averaged over a hundredth of the run; steps far longer than the others run out of the picture; dotted lines are slow steps; drag to zoom, double-click for all",
    ),
    ...runs.map((run, i) =>
      chartFigure({
        title: runs.length > 1 ? run.name : "Step",
        steps: run.from,
        lines: stages[i]!.map(({ name, series }) => ({
          label: name,
          color: () => colors.get(name) ?? "gray",
          values: smooth(series, Math.round(series.length / 100)),
        })),
        format: time,
        stacked: true,
        range: [0, highest * 1.03],
        height: 280,
        marks: run.slow.map(({ step }) => step),
      }),
    ),
  );
}
