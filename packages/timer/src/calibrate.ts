import type { Clock } from "./clock.ts";
import { createRecorder } from "./recorder.ts";
import { SIZE } from "./recording.ts";
import type { Calibration } from "./timer.ts";

/** Rounds of calls in a loop; the best of them is what optimised code costs. */
const HOT_ROUNDS = 40;
const HOT_CALLS = 1_000;
const COLD_ROUNDS = 31;
/** Doubles that are swept to evict the caches: 8 MiB. */
const EVICT = 1 << 20;

/** Of a clock that isn't real. */
export const UNCALIBRATED: Calibration = { costNs: 0, costColdNs: 0, biasNs: 0, resolutionNs: 0 };

let known: Calibration | undefined;

/** Measures once what a section costs here; some 40 ms. */
export function calibrate(clock: Clock): Calibration {
  return (known ??= measure(clock));
}

function measure(clock: Clock): Calibration {
  const recorder = createRecorder(clock, false, SIZE, () => recorder.head);
  const section = recorder.section(0, "");
  const { times } = recorder.recording;
  /** Time of a call in each of some rounds, ns, least first. */
  const rounds = (count: number, calls: number, prepare?: () => void): Float64Array =>
    new Float64Array(count)
      .map(() => {
        prepare?.();
        const before = clock();
        for (let call = 0; call < calls; call += 1) {
          section.start();
          section.stop();
        }
        return Number(clock() - before) / calls;
      })
      .toSorted();

  const costNs = rounds(HOT_ROUNDS, HOT_CALLS)[0]!;
  // The time of every other word pair is a start's, and that of the one after it its stop's.
  const gaps = new Float64Array(HOT_CALLS)
    .map((_, pair) => Number(times[times.length - 2 - pair * 4]! - times[times.length - 4 - pair * 4]!))
    .toSorted();
  const biasNs = gaps[HOT_CALLS >> 1]!;
  const memory = new Float64Array(EVICT);
  const cold = rounds(COLD_ROUNDS, 1, () => {
    for (let i = 0; i < EVICT; i += 8) memory[i]! += 1;
    clock();
  });
  // The lower quartile, since slower rounds were interrupted; the two readings around the section add one clock read.
  const costColdNs = Math.max(costNs, cold[COLD_ROUNDS >> 2]! - biasNs);
  return { costNs, costColdNs, biasNs, resolutionNs: gaps.find((gap) => gap > 0) ?? 0 };
}
