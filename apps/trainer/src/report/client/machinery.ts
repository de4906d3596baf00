import type { RunData, Series } from "../runData.ts";
import { align, isKnown } from "./align.ts";
import { heading } from "./breakdown.ts";
import { chartFigure } from "./chartFigure.ts";
import type { Line } from "./chartOptions.ts";
import { element } from "./element.ts";
import { bytes, percent, short, tick } from "./format.ts";
import { styleColor } from "./palette.ts";
import { smooth } from "./smooth.ts";

type Format = typeof short;
type Named = readonly (readonly [label: string, series: Series | undefined])[];

const colors = ["--line1", "--line2", "--line3", "--line4", "--line5"];
/** Lanes have the colours of what they do. */
const colorOf: Readonly<Record<string, string>> = { target: "--line1", drafter: "--line2", data: "--line3" };
const powersOfTwo = Array.from({ length: 50 }, (_, power) => 2 ** power);

const gauges =
  (names: Readonly<Record<string, string>>) =>
  (run: RunData): Named =>
    Object.entries(names).map(([name, label]) => [label, run.gauges[name]] as const);
const lanes =
  (part: "busy" | "overlap") =>
  (run: RunData): Named =>
    Object.entries(run.lanes).map(([name, lane]) => [name, lane[part]] as const);

/** Queue, lanes, memory and shapes; what never changes is said in a line. */
export function machinery(runs: readonly RunData[]): HTMLElement {
  const { steps, at } = align(runs);
  const constant: string[] = [];

  const each = (
    title: string,
    pick: (run: RunData) => Named,
    { format, fromZero, increments }: { format: Format; fromZero: number; increments?: readonly number[] },
  ): HTMLElement | null => {
    const lines = runs.flatMap((run, i) =>
      pick(run)
        .filter(([, series]) => isKnown(series))
        .map(([label, series], j): Line => ({
          label: runs.length > 1 ? `${label}, ${run.name}` : label,
          color: () => styleColor(colorOf[label.replace(/\[.*/, "")] ?? colors[j % colors.length]!),
          values: smooth(at(run, series), Math.round(steps.length / 100)),
          ...(i > 0 ? { dashed: true } : {}),
        })),
    );
    const values = new Set(lines.flatMap((line) => line.values.filter((value) => value !== null)));
    if (values.size > 1)
      return chartFigure({ title, steps, lines, format, fromZero, ...(increments && { increments }) });
    for (const value of values) constant.push(`${title.toLowerCase()} ${format(value)}`);
    return null;
  };
  const memory = {
    rss_bytes: "process",
    heap_bytes: "engine heap",
    tensor_bytes: "tensors",
    target_tensor_bytes: "target's tensors",
  };

  const grid = element(
    "div",
    { class: "grid" },
    each("Busy lanes", lanes("busy"), { format: percent, fromZero: 1 }),
    each("Overlap of lanes", lanes("overlap"), { format: percent, fromZero: 0.2 }),
    each("Queue depth", gauges({ queue_depth: "batches ready" }), { format: tick, fromZero: 1 }),
    each("Memory", gauges(memory), { format: bytes, fromZero: 0, increments: powersOfTwo }),
    each("Shapes of batches so far", gauges({ batch_shapes: "shapes" }), { format: tick, fromZero: 1 }),
    each("Padding", gauges({ padding_share: "of the tokens" }), { format: percent, fromZero: 0.01 }),
  );
  return element(
    "section",
    {},
    heading(
      "Lanes, queue and memory",
      runs.length > 1 ? "the second run dashed; shares are of the step's time" : "shares are of the step's time",
    ),
    grid,
    constant.length === 0
      ? null
      : element("p", { class: "quiet constant" }, `The same all along: ${constant.join(", ")}.`),
  );
}
