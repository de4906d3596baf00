import { internalsOf } from "../internals.ts";
import { laneReplayOf } from "../lanes/laneReplay.ts";
import type { Timer } from "../timer.ts";
import type { CauseProbe } from "./causeProbe.ts";
import { createCauseRing, recordCauses } from "./causeRing.ts";

/** How causes are observed. */
export interface ObserveCausesOptions {
  /** In every n-th measured step, from the next, wait for the device before a section stops, and mark the step `sync`; never unless given. */
  syncEvery?: number;
}

/**
 * Reads an engine's running totals at every boundary of a section, so that reports tell what the engine did in each. To be called before the first step.
 *
 * @throws RangeError on a `syncEvery` that is no positive integer, or when the engine can't block.
 */
export function observeCauses(timer: Timer, probe: CauseProbe, { syncEvery }: ObserveCausesOptions = {}): void {
  const internals = internalsOf(timer);
  const { recorder } = internals;
  laneReplayOf(timer);
  const ring = createCauseRing(!(recorder.recording.words.buffer instanceof ArrayBuffer));
  internals.causes = ring;
  recorder.observe = (boundary) => recordCauses(ring, boundary, probe);
  if (syncEvery === undefined) return;
  if (!Number.isInteger(syncEvery) || syncEvery < 1)
    throw new RangeError(`observeCauses: syncEvery is ${syncEvery}; give a positive integer`);
  if (!probe.sync)
    throw new RangeError(
      "observeCauses: syncEvery needs an engine that can block until its device is done; leave it out",
    );
  const sync = (): void => probe.sync!();
  let steps = 0;
  const next = (): void => {
    recorder.sync = steps % syncEvery === 0 ? sync : undefined;
    if (recorder.sync) timer.mark("sync");
    steps += 1;
  };
  next();
  timer.on("report", next);
}
