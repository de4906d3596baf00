import type { Clock } from "./clock.ts";
import { createRecorder } from "./recorder.ts";
import type { Calibration } from "./timer.ts";

/** Doubles of the memory that is swept to evict the caches: 8 MiB. */
const EVICT = 1 << 20;
const HOT_ROUNDS = 9;
const HOT_CALLS = 2_000;
const COLD_ROUNDS = 25;

/** Of a clock that isn't real. */
export const UNCALIBRATED: Calibration = { costNs: 0, costColdNs: 0, biasNs: 0, resolutionNs: 0 };

let known: Calibration | undefined;

/** Measures once what a section costs here; some 30 ms. */
export function calibrate(clock: Clock): Calibration {
  known ??= measure(clock);
  return known;
}

function measure(clock: Clock): Calibration {
  const recorder = createRecorder({
    clock,
    probe: undefined,
    shared: false,
    limit: (size) => size,
    drain: () => recorder.head,
  });
  const section = recorder.section(1, "calibration");
  const { recording } = recorder;
  const elapsed = (fn: () => void): number => {
    const before = clock();
    fn();
    return Number(clock() - before);
  };
  const hot = (): void => {
    for (let call = 0; call < HOT_CALLS; call += 1) {
      section.start();
      section.stop();
    }
  };
  const hotNs = median(Array.from({ length: HOT_ROUNDS }, () => elapsed(hot) / HOT_CALLS));
  const times = recording.times;
  const gaps = Array.from({ length: recording.size / 2 }, (_, pair) =>
    Number(times[times.length - 2 - pair * 4]! - times[times.length - 4 - pair * 4]!),
  ).filter((gap) => gap > 0);
  const clockNs = median(Array.from({ length: HOT_ROUNDS * 9 }, () => elapsed(() => {})));
  const memory = new Float64Array(EVICT);
  const cold = Array.from({ length: COLD_ROUNDS }, () => {
    for (let i = 0; i < EVICT; i += 8) memory[i]! += 1;
    clock();
    return elapsed(() => {
      section.start();
      section.stop();
    });
  });
  return {
    costNs: hotNs,
    costColdNs: Math.max(hotNs, median(cold) - clockNs),
    biasNs: median(gaps),
    resolutionNs: Math.min(...gaps),
  };
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}
