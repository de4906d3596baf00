import { createTimer } from "@dflash/timer";
import { profileSteps } from "@dflash/timer/node";
import { createStatistics } from "@dflash/timer/statistics";

/** Share of a section in a CPU-bound loop: by the timer, and by V8's profiler with its samples labelled by section. */
export interface Share {
  readonly section: string;
  readonly timer: number;
  readonly profile: number;
}

const STEPS = 60;

/** Three kinds of work in nested sections, profiled while they are timed. */
export async function measureShares(): Promise<Share[]> {
  const timer = createTimer();
  const statistics = createStatistics(timer);
  const outer = timer.section("matrix");
  const handles = {
    "matrix/sum": timer.section("matrix/sum"),
    sort: timer.section("sort"),
    text: timer.section("text"),
  };
  const numbers = Float64Array.from({ length: 60_000 }, (_, i) => (i * 7919) % 60_000);
  const selfMs = new Map<string, number>();
  timer.on("report", ({ step, sections, residualMs }) => {
    if (step === 1) return;
    for (const [name, section] of Object.entries(sections))
      selfMs.set(name, (selfMs.get(name) ?? 0) + (section.selfMs ?? 0));
    selfMs.set("rest", (selfMs.get("rest") ?? 0) + residualMs);
  });
  const profiled = profileSteps(timer, { from: 2, to: STEPS, intervalUs: 500 });
  let kept = 0;
  for (let step = 1; step <= STEPS; step += 1) {
    timer.step(() => {
      outer.start();
      for (let round = 0; round < 40; round += 1)
        for (let i = 0; i < numbers.length; i += 1) kept += Math.sqrt(numbers[i]! + round);
      handles["matrix/sum"].time(() => {
        for (let round = 0; round < 40; round += 1) kept += numbers.reduce((a, b) => a + b, 0);
      });
      outer.stop();
      handles.sort.time(() => (kept += numbers.toSorted()[7]!));
      handles.text.time(() => (kept += numbers.join(" ").length));
    });
  }
  if (!Number.isFinite(kept)) throw new Error("shares: the work was optimised away");
  const { sections } = await profiled;
  statistics.stop();
  const total = [...selfMs.values()].reduce((a, b) => a + b, 0);
  const sampled = sections.reduce((sum, { ms }) => sum + ms, 0);
  return [...selfMs].map(([section, ms]) => ({
    section,
    timer: ms / total,
    profile: (sections.find((found) => found.section === section)?.ms ?? 0) / sampled,
  }));
}
