import type { LateReport, Report } from "../report.ts";
import type { Timer } from "../timer.ts";
import { findBottleneck, type Verdict } from "./findBottleneck.ts";
import type { JudgedStep } from "./judgedStep.ts";
import type { EngineFacts } from "./measureCauses.ts";

/** How a judge is made. */
export interface JudgeOptions extends EngineFacts {
  /** Steps that a verdict looks back on; 32 unless given. */
  window?: number;
  /** Items ready in the queue when the step that has just closed began to wait. */
  ready?: () => number | null;
}

/** Judges a running timer. */
export interface Judge {
  /** On the last steps, the one that has just closed included. */
  verdict(): Verdict;
  /** Stops listening. */
  stop(): void;
}

/** Keeps a timer's last reports and what came late for them. Make it before the listeners that ask it. */
export function createJudge(
  timer: Pick<Timer, "on" | "off">,
  { window = 32, ready, ...facts }: JudgeOptions = {},
): Judge {
  let steps: JudgedStep[] = [];
  const onReport = (report: Report): void => {
    steps = [...steps.slice(1 - window), { report: report.snapshot(), ready: ready?.() ?? null }];
  };
  const onLate = (late: LateReport): void => {
    steps = steps.map((step) =>
      step.report.step === late.step ? { ...step, late: mergeLate(step.late, late.sections) } : step,
    );
  };
  timer.on("report", onReport);
  timer.on("late", onLate);
  return {
    verdict: () => findBottleneck(steps, facts),
    stop() {
      timer.off("report", onReport);
      timer.off("late", onLate);
    },
  };
}

function mergeLate(known: LateReport["sections"] = {}, more: LateReport["sections"]): LateReport["sections"] {
  const merged = { ...known };
  for (const [name, columns] of Object.entries(more)) merged[name] = { ...merged[name], ...columns };
  return merged;
}
