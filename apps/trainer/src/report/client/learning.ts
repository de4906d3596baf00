import type { RunData } from "../runData.ts";
import { align, isKnown } from "./align.ts";
import { heading } from "./breakdown.ts";
import { chartFigure } from "./chartFigure.ts";
import type { Line } from "./chartOptions.ts";
import { element } from "./element.ts";
import { percent, short, tick } from "./format.ts";
import { styleColor } from "./palette.ts";
import { smooth } from "./smooth.ts";

const exponent = (value: number | null | undefined): string =>
  value === null || value === undefined ? "–" : value === 0 ? "0" : value.toExponential(1);

/** Charts of what was learnt and how fast. */
export function learning(runs: readonly RunData[]): HTMLElement {
  const { steps, at } = align(runs);
  const marks = [
    ...new Set(runs.flatMap((run) => run.marks.filter(({ name }) => name === "checkpoint").map(({ step }) => step))),
  ];
  const metric = (title: string, name: string, format: typeof short, fromZero?: number): HTMLElement | null => {
    const lines = runs.flatMap((run, i): Line[] => {
      const series = run.metrics[name];
      if (!isKnown(series)) return [];
      const values = at(run, series);
      const window = Math.round(steps.length / 40);
      const color = (): string => styleColor(`--run${i + 1}`);
      const line = { label: run.name, color };
      // A smooth line over sparse points would say nothing more.
      if (window < 3 || values.filter((value) => value !== null).length < steps.length / 4)
        return [{ ...line, values }];
      return [
        { ...line, values, faint: true },
        { ...line, values: smooth(values, window) },
      ];
    });
    if (lines.length === 0) return null;
    return chartFigure({
      title,
      steps,
      lines,
      format,
      marks,
      ...(fromZero === undefined ? {} : { fromZero }),
    });
  };
  return element(
    "section",
    {},
    heading(
      "Learning and speed",
      "smoothed over a fortieth of the run, the steps faint behind; dotted lines are checkpoints",
    ),
    element(
      "div",
      { class: "grid" },
      metric("Loss", "loss", tick),
      metric("Accuracy", "accuracy", percent, 0),
      metric("Acceptance length, simulated", "acceptance_length", tick),
      metric("Acceptance length, measured", "tau", tick),
      metric("Tokens/s", "tokens_per_s", tick, 0),
      metric("Learning rate", "learning_rate", exponent, 0),
    ),
  );
}
