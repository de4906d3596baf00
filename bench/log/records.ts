import type { StepRecord } from "@dflash/log-formatter";

const sectionNames = [
  "data",
  "queue/wait",
  "target/forward",
  "target/capture",
  "target/pack",
  "anchors",
  "block-mask",
  "noise",
  "drafter/forward",
  "loss",
  "drafter/backward",
  "clip",
  "optimizer",
  "dispose",
  "checkpoint",
  "log",
];

/** Park and Miller's generator: the same records in every run. */
function createRandom(): () => number {
  let state = 1;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

/** Steps as a run logs them: 16 sections with times to the nanosecond, a lane, a verdict, four metrics and a gauge. */
export function createRecords(count: number): StepRecord[] {
  const random = createRandom();
  return Array.from({ length: count }, (_, index): StepRecord => {
    const sections: StepRecord["sections"] = {};
    for (const name of sectionNames) {
      const nanoseconds = Math.floor(random() * 5e6);
      sections[name] = {
        ms: nanoseconds / 1e6,
        self_ms: (name === "queue/wait" ? Math.floor(nanoseconds * 0.1) : nanoseconds) / 1e6,
        n: 1 + (index % 3),
      };
    }
    const ms = Math.floor(4e7 + random() * 1e7) / 1e6;
    return {
      kind: "step",
      step: index + 1,
      attempt: 1,
      t_ms: (index * 48_123_456) / 1e6,
      ms,
      residual_ms: Math.floor(random() * 1e6) / 1e6,
      ov_us: Math.floor(random() * 1e4) / 1e3,
      sections,
      lanes: { drafter: { busy_ms: ms - 3, wait_ms: 3, overlap: null } },
      verdict: { cause: "drafter-bound", share: 0.93, confidence: 0.9 },
      metrics: {
        tokens_per_s: Math.round(random() * 1e5) / 10,
        loss: Math.fround(random() * 5),
        accuracy: Math.round(random() * 480) / 480,
        learning_rate: random() * 1e-3,
      },
      gauges: { queue_depth: Math.floor(random() * 4) },
      tags: [],
    };
  });
}
