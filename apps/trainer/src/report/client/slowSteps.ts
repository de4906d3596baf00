import type { RunData } from "../runData.ts";
import { heading } from "./breakdown.ts";
import { element } from "./element.ts";
import { short, time } from "./format.ts";

type Slow = RunData["slow"][number];
type Spans = Slow["steps"][number];

/** Spans narrower than this part of the step would not be seen. */
const narrowest = 0.002;

/** The steps that took far longer than those before them, each with its span tree and those of the three before it. */
export function slowSteps(runs: readonly RunData[], colorOf: (section: string) => string): HTMLElement | null {
  const all = runs.flatMap(({ slow, name }) => slow.map((each) => ({ each, name })));
  if (all.length === 0) return null;
  return element(
    "section",
    { class: "slow" },
    heading(
      "Slow steps",
      "beyond the median and six times the median distance from it; at most one in 100 steps is kept",
    ),
    ...all.map(({ each, name }, i) =>
      element(
        "details",
        { "data-of": `${name} step ${each.step}`, ...(i === 0 ? { open: "" } : {}) },
        element(
          "summary",
          {},
          element("b", {}, `step ${each.step}`),
          ` ${time(each.ms)}, ${short(each.ms / each.medianMs)} times the median of ${time(each.medianMs)}`,
          runs.length > 1 ? element("span", { class: "whose" }, name) : null,
        ),
        ...each.steps.toReversed().map((step, back) => spanTree(step, each, back === 0, colorOf)),
      ),
    ),
  );
}

/** A step's spans by lane and depth, on the time scale of the slow one. */
function spanTree(
  { step, startMs, ms, spans }: Spans,
  slow: Slow,
  isSlow: boolean,
  colorOf: (section: string) => string,
): HTMLElement {
  const lanes = [...new Set(spans.map(({ lane }) => lane))];
  const shown = spans.filter((span) => span.ms >= narrowest * slow.ms);
  return element(
    "div",
    { class: isSlow ? "tree" : "tree before" },
    element("span", { class: "quiet" }, `step ${step}, ${time(ms)}`),
    ...lanes.map((lane) => {
      const own = shown.filter((span) => span.lane === lane);
      const deepest = Math.max(0, ...own.map(({ depth }) => depth ?? 0));
      return element(
        "div",
        { class: "lane", style: `height:${(deepest + 1) * (isSlow ? 20 : 12)}px`, "data-lane": lane },
        ...own.map((span) =>
          element(
            "i",
            {
              title: `${span.name}: ${time(span.ms)}`,
              style: [
                `left:${(100 * (span.startMs - startMs)) / slow.ms}%`,
                `width:max(1px, ${(100 * span.ms) / slow.ms}% - 1px)`,
                `top:${(span.depth ?? 0) * (isSlow ? 20 : 12)}px`,
                `background:${colorOf(span.name)}`,
              ].join(";"),
            },
            isSlow && span.ms > 0.06 * slow.ms ? `${span.name} ${time(span.ms)}` : null,
          ),
        ),
      );
    }),
  );
}
