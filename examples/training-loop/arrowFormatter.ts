import type { LogFormatter } from "@dflash/log-formatter";

/** A log format of one's own: a line a step that says whether the loss fell, and what took longest. */
export default (): LogFormatter => {
  let before = Number.POSITIVE_INFINITY;
  return {
    step({ step, ms, metrics, sections }) {
      const loss = metrics["loss"] ?? Number.NaN;
      const times = Object.entries(sections).map(([name, { self_ms }]) => ({ name, ms: self_ms ?? 0 }));
      const longest = times.toSorted((a, b) => b.ms - a.ms)[0];
      const line = `${step} ${loss < before ? "↓" : "↑"} loss ${loss.toFixed(3)}  ${ms.toFixed(0)} ms, mostly ${longest?.name.replaceAll(/[^\w/.-]/g, "?")}\n`;
      before = loss;
      return line;
    },
  };
};
