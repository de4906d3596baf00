import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createHeaderRecord, createStepRecord, type LogChunk, ndjson } from "@dflash/log-formatter";
import { createTimer } from "@dflash/timer";
import { watchSlowSteps } from "@dflash/timer/spans";
import { createJudge } from "@dflash/timer/verdict";

export interface SampleLogOptions {
  readonly steps: number;
  /** Time of the target in a step, ms. */
  readonly targetMs?: number;
  /** A step that takes ten times as long. */
  readonly slowAt?: number;
}

/** Writes the log of a run whose times are known, by the real timer on a clock that is moved: inline target, drafter, queue, log. */
export function writeSampleLog(folder: string, options: SampleLogOptions): void {
  const { steps, targetMs = 40, slowAt } = options;
  mkdirSync(folder, { recursive: true });
  let now = 0n;
  const timer = createTimer({ lane: "drafter", clock: () => now });
  const pass = (ms: number): void => void (now += BigInt(Math.round(ms * 1e6)));
  const wait = timer.section("queue/wait", { role: "wait", waitsFor: "target" });
  const data = timer.section("data", { lane: "data", role: "data" });
  const forward = timer.section("target/forward", { lane: "target" });
  const layers = timer.section("target/mlp", { lane: "target" });
  const drafter = timer.section("drafter/forward");
  const attention = timer.section("drafter/forward/attention");
  const backward = timer.section("drafter/backward");
  const optimizer = timer.section("drafter/optimizer", { role: "optimizer" });

  const file = openSync(join(folder, "log.ndjson"), "w");
  const formatter = ndjson();
  const write = (chunk: LogChunk | undefined): void => {
    if (typeof chunk === "string") writeSync(file, chunk);
    else if (chunk) writeSync(file, chunk);
  };
  const judge = createJudge(timer);
  watchSlowSteps(timer, (slow) =>
    write(formatter.event?.({ kind: "event", step: slow.step, name: "slow", data: slow })),
  );
  timer.on("report", (report) => {
    const times = report.snapshot();
    if (times.step === 1)
      write(
        formatter.header?.(
          createHeaderRecord({
            run: folder.split("/").at(-1)!,
            attempt: 1,
            sections: Object.entries(times.sections).map(([name, { parent, lane, role }]) => ({
              name,
              parent,
              lane,
              role,
            })),
            calibration: { cost_ns: 0, cost_cold_ns: 0, bias_ns: 0, resolution_ns: 0 },
            config: { target: "tiny-target", engine: "wasm", steps, targetMs },
          }),
        ),
      );
    const progress = times.step / steps;
    const metrics = {
      loss: 5 - 2 * progress,
      accuracy: 0.1 + 0.3 * progress,
      acceptance_length: 1 + progress,
      tokens: 400,
      tokens_per_s: 400_000 / times.ms,
    };
    const gauges = { queue_depth: times.step % 3, rss_bytes: 3e8 + 1e3 * times.step, batch_shapes: times.step % 7 };
    // A verdict every step would make the writing of a long log last.
    const verdict = steps <= 1000 || times.step % 1000 === 0 ? judge.verdict() : null;
    write(formatter.step(createStepRecord(times, { attempt: 1, metrics, gauges, verdict })));
  });

  for (let step = 1; step <= steps; step++) {
    const factor = (step === slowAt ? 10 : 1) * (1 + 0.2 * Math.sin(step));
    timer.step(() => {
      wait.time(() => {
        data.time(() => pass(2 * factor));
        forward.time(() => {
          pass(0.4 * targetMs * factor);
          layers.time(() => pass(0.6 * targetMs * factor));
        });
      });
      drafter.time(() => {
        pass(factor);
        attention.time(() => pass(9 * factor));
      });
      backward.time(() => pass(20 * factor));
      optimizer.time(() => pass(3 * factor));
      pass(0.5);
    });
  }
  closeSync(file);
}
