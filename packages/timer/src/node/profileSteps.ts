import { Session } from "node:inspector";
import { readSpans } from "../spans/readSpans.ts";
import type { Report } from "../report.ts";
import type { StepSpans } from "../spans/span.ts";
import type { Timer } from "../timer.ts";
import { innermost } from "./innermost.ts";
import { labelProfile, type StepsProfile, type V8Profile } from "./labelProfile.ts";

/** Which steps are profiled, and how finely. */
export interface ProfileStepsOptions {
  /** First and last step. */
  from: number;
  /** Last step. */
  to: number;
  /** Time between two samples, µs; 1000 unless given. */
  intervalUs?: number;
}

/** Takes a V8 CPU profile of a range of steps and tells which functions each section spent its time in. Starting it stops the thread for some 20 ms, between two steps. */
export async function profileSteps(
  timer: Timer,
  { from, to, intervalUs = 1000 }: ProfileStepsOptions,
): Promise<StepsProfile> {
  const session = new Session();
  session.connect();
  // Both clocks count from the machine's start.
  const originUs = Number(process.hrtime.bigint() / 1000n) - timer.now() * 1000;
  const steps: StepSpans[] = [];
  const start = (): void => {
    session.post("Profiler.enable");
    session.post("Profiler.setSamplingInterval", { interval: intervalUs });
    session.post("Profiler.start");
  };
  if (from <= 1) start();
  const profile = await new Promise<V8Profile>((resolve, reject) => {
    timer.on("report", function onReport({ step, startMs, ms }: Report) {
      if (step === from - 1) start();
      const spans = step >= from && step <= to ? readSpans(timer, { startMs, ms }) : null;
      if (spans) steps.push({ step, startMs, ms, spans });
      if (step < to) return;
      timer.off("report", onReport);
      session.post("Profiler.stop", (error, result) => (error ? reject(error) : resolve(result.profile)));
    });
  });
  session.disconnect();

  const sectionAt = (us: number): string | null => {
    const ms = (us - originUs) / 1000;
    const step = steps.find(({ startMs, ms: length }) => ms >= startMs && ms < startMs + length);
    return step ? (innermost(step.spans, ms)?.name ?? "rest") : null;
  };
  return labelProfile(profile, sectionAt);
}
