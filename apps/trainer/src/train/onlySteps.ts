import type { LogFormatter } from "@dflash/log-formatter";
import type { StepRange } from "./stepRange.ts";

/** A formatter that leaves out what is of other steps. */
export function onlySteps(formatter: LogFormatter, { from, to }: StepRange): LogFormatter {
  const among = ({ step }: { readonly step: number }): boolean => step >= from && step <= to;
  return {
    ...formatter,
    step: (record) => (among(record) ? formatter.step(record) : ""),
    late: (record) => (among(record) ? (formatter.late?.(record) ?? "") : ""),
    event: (record) => (among(record) ? (formatter.event?.(record) ?? "") : ""),
    summary: () => "",
  };
}
