import type { RunData } from "../runData.ts";
import { element } from "./element.ts";
import { change, percent, short, time } from "./format.ts";

/** The mean of the last tenth of a series: what a run ended with, without the last step's luck. */
function ending(values: readonly (number | null)[] | undefined): number | null {
  if (!values) return null;
  const known = values.slice(-Math.max(1, Math.ceil(values.length / 10))).filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}

/** Tokens a second of training; measuring the drafter is no part of it. */
function rate({ tokens, totalMs, sections }: RunData): number {
  const evalMs = sections.reduce((sum, { role, selfMs }) => sum + (role === "eval" ? selfMs : 0), 0);
  return totalMs > evalMs ? (1000 * tokens) / (totalMs - evalMs) : 0;
}

/** The figures that a run is known by; with a second run, each beside the first's. */
export function keyFigures(runs: readonly RunData[]): HTMLElement {
  const [first, second] = [runs[0]!, runs[1]];
  const figure = (
    name: string,
    of: (run: RunData) => number | null,
    format: (value: number | null) => string,
  ): HTMLElement => {
    const [a, b] = [of(first), second ? of(second) : null];
    return element(
      "div",
      { class: "figure" },
      element("span", {}, name),
      element("strong", {}, format(a)),
      second ? element("em", {}, `${format(b)}${a !== null && b !== null ? `  ${change(b, a)}` : ""}`) : null,
    );
  };
  return element(
    "section",
    { class: "figures", "aria-label": "Key figures" },
    figure("tokens/s", rate, short),
    figure("median step", ({ percentiles }) => percentiles.p50, time),
    figure("loss", ({ metrics }) => ending(metrics["loss"]), short),
    figure("accuracy", ({ metrics }) => ending(metrics["accuracy"]), percent),
    figure("acceptance length", ({ metrics }) => ending(metrics["acceptance_length"]), short),
    figure(
      "steps",
      ({ steps }) => steps,
      (value) => short(value).replace(/\.0+$/, ""),
    ),
    figure("in steps", ({ totalMs }) => totalMs, time),
  );
}

/** What held a run back and what to change. */
export function verdict(run: RunData, isNamed: boolean): HTMLElement {
  const { judgement } = run;
  const name = isNamed ? element("span", { class: "whose" }, run.name) : null;
  if (!judgement)
    return element(
      "section",
      { class: "verdict" },
      name,
      element("h2", {}, "No verdict"),
      element("p", {}, "The run has no telemetry, or fewer than ten steps."),
    );
  const { cause, share, confidence, steps, advice, predictions } = judgement;
  return element(
    "section",
    { class: "verdict" },
    name,
    element("h2", {}, cause.replaceAll("-", " ").replace(/ bound$/, "-bound")),
    element(
      "p",
      { class: "quiet" },
      `${percent(share)} of the time · confidence ${confidence.toFixed(2)} · the verdict of ${percent(steps)} of the steps`,
    ),
    advice === null ? null : element("p", {}, ...withFlags(`${advice[0]!.toUpperCase()}${advice.slice(1)}.`)),
    predictions.length === 0
      ? null
      : element(
          "ul",
          { class: "predictions" },
          ...predictions.map(({ flags, tokensPerSecond, ratio }) =>
            element(
              "li",
              {},
              element("code", {}, flags),
              element("span", {}, `${short(tokensPerSecond)} tokens/s, `, element("b", {}, `×${ratio.toFixed(2)}`)),
            ),
          ),
          element(
            "li",
            { class: "quiet" },
            "predicted by a replay of the recorded steps on as many cores as this report was made on",
          ),
        ),
  );
}

/** Text whose flags, such as `--block-size`, no line's end divides. */
const withFlags = (text: string): (string | HTMLElement)[] =>
  text.split(/(--[a-z][a-z-]*)/).map((part) => (part.startsWith("--") ? element("code", {}, part) : part));
