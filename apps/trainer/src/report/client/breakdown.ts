import type { RunData } from "../runData.ts";
import { element } from "./element.ts";
import { change, percent, time } from "./format.ts";
import type { Stage } from "./stages.ts";

/** A run's share of a row. */
interface Bar {
  readonly stage: Stage | undefined;
  readonly run: RunData;
}

/** Where the wall time went: a bar for each part of the step, largest first, and what it is made of. */
export function breakdown(
  runs: readonly RunData[],
  own: readonly (readonly Stage[])[],
  beside: readonly (readonly Stage[])[],
  colors: ReadonlyMap<string, string>,
): HTMLElement {
  return element(
    "section",
    { class: "breakdown" },
    heading(
      "Where the time goes",
      runs.length > 1 ? "ms a step, second run below the first" : "ms a step and share of the wall time",
    ),
    strip(runs, own, colors),
    element("div", { class: "rows", role: "table", "aria-label": "Sections" }, ...rows(runs, own, colors)),
    ...(beside.some((stages) => stages.length > 0)
      ? [
          element("h3", {}, "Beside the steps, in other threads"),
          element("div", { class: "rows" }, ...rows(runs, beside, colors)),
        ]
      : []),
  );
}

/** A section's title and what its figures are. */
export const heading = (title: string, note: string): HTMLElement =>
  element("header", {}, element("h2", {}, title), element("p", { class: "quiet" }, note));

/** The whole step as one bar a run, in the order of its parts; on one scale, so that a faster run is a shorter bar. */
function strip(
  runs: readonly RunData[],
  own: readonly (readonly Stage[])[],
  colors: ReadonlyMap<string, string>,
): HTMLElement {
  const longest = Math.max(...runs.map(({ totalMs, steps }) => totalMs / Math.max(1, steps)));
  return element(
    "div",
    { class: "strips" },
    ...runs.map((run, i) => {
      const perStep = run.totalMs / Math.max(1, run.steps);
      return element(
        "div",
        { class: "strip" },
        runs.length > 1 ? element("span", { class: `whose run${i + 1}` }, run.name) : null,
        element(
          "div",
          { class: "bar", style: `width:${(100 * perStep) / longest}%` },
          ...own[i]!.map(({ name, ms }) =>
            element("i", {
              style: `flex-grow:${ms};background:${colors.get(name) ?? "gray"}`,
              title: `${name}: ${time(ms / run.steps)} a step, ${percent(ms / run.totalMs)}`,
            }),
          ),
        ),
      );
    }),
  );
}

function rows(
  runs: readonly RunData[],
  stages: readonly (readonly Stage[])[],
  colors: ReadonlyMap<string, string>,
): HTMLElement[] {
  const names = [...new Set(stages.flat().map(({ name }) => name))];
  const bars = names.map((name) => ({
    name,
    bars: runs.map((run, i): Bar => ({ run, stage: stages[i]!.find((stage) => stage.name === name) })),
  }));
  const longest = Math.max(...bars.flatMap((each) => each.bars.map(sizeOf)), 1e-9);
  return bars
    .toSorted((a, b) => largest(b) - largest(a))
    .map(({ name, bars: each }) => {
      const color = colors.get(name) ?? "gray";
      const parts = each[0]?.stage?.parts ?? [];
      const line = row(name, each, color, longest);
      if (parts.length === 0) return line;
      return element(
        "details",
        { "data-of": name },
        element("summary", {}, line),
        ...parts.map((part) =>
          row(
            part.name.replace(`${name}/`, ""),
            each.map(({ run, stage }) => ({ run, stage: stage?.parts.find((other) => other.name === part.name) })),
            color,
            longest,
          ),
        ),
      );
    });
}

/** The larger of the runs' times, ms a step. */
const largest = ({ bars }: { readonly bars: readonly Bar[] }): number => Math.max(...bars.map(sizeOf));

/** Time a step, ms. */
const sizeOf = ({ stage, run }: Bar): number => (stage?.ms ?? 0) / Math.max(1, run.steps);

function row(name: string, bars: readonly Bar[], color: string, longest: number): HTMLElement {
  const sizes = bars.map(sizeOf);
  const [first, second] = [sizes[0]!, sizes[1]];
  const { stage, run } = bars[0]!;
  const spread = stage?.p99 ? `median ${time(stage.p50)}, 99 % of the steps up to ${time(stage.p99)}` : "";
  return element(
    "div",
    { class: "row", title: spread },
    element("span", { class: "name" }, name),
    element(
      "span",
      { class: "track" },
      ...bars.map((bar, i) =>
        element("i", {
          style: `width:${(100 * sizeOf(bar)) / longest}%;background:${color}`,
          ...(i > 0 ? { class: "second" } : {}),
        }),
      ),
    ),
    element("span", { class: "value" }, time(first), second === undefined ? null : element("em", {}, time(second))),
    element(
      "span",
      { class: "share" },
      second === undefined ? percent((stage?.ms ?? 0) / run.totalMs) : change(second, first),
    ),
  );
}
