import { calibrate, UNCALIBRATED } from "./calibrate.ts";
import { type Clock, timeSince, monotonicClock } from "./clock.ts";
import { createGuardedEmitter } from "./guardedEmitter.ts";
import { createRecorder } from "./recorder.ts";
import { type TimerInternals, setInternals } from "./internals.ts";
import type { StepSource } from "./readStep.ts";
import { STEP, STEP_END } from "./recording.ts";
import { createReplay, type Track } from "./replay.ts";
import { MAX_LANES, MAX_SECTIONS, SELF, STEP_SLOT, TOTAL } from "./stepTotals.ts";
import { StepReport } from "./report.ts";
import { runThen } from "./runThen.ts";
import type { Calibration, CauseProbe, LateColumns, Section, SectionInfo, Timer, TimerEvents } from "./timer.ts";

/** How a timer is made. */
export interface TimerOptions {
  /** Name of the timer's own lane, whose steps it reports; "main" unless given. */
  lane?: string;
  /** Throw on a call without a partner, at that call; for tests. Otherwise they are counted. */
  strict?: boolean;
  /** Measure every n-th step only, from the first; 1 unless given. */
  sampleEvery?: number;
  /** Where an engine's causes are read at every boundary. */
  probe?: CauseProbe;
  /** In every n-th step, from the first, wait for the device before a section stops, and mark the step `sync`; never unless given. */
  syncEvery?: number;
  /** Let other threads `attach` this timer's recording. */
  shared?: boolean;
  /** Monotonic clock in nanoseconds, for tests; with it `calibration` is all zeros. */
  clock?: Clock;
}

const NO_TAGS: readonly string[] = [];

/**
 * Makes a timer. A boundary of a section costs one clock read and one write to a ring; the rest happens when a step closes. Nothing is allocated in between.
 *
 * @throws RangeError on a `sampleEvery` or `syncEvery` that is no positive integer, and on a `syncEvery` when the probe can't block.
 */
export function createTimer(options: TimerOptions = {}): Timer {
  const { lane: ownLane = "main", strict = false, sampleEvery = 1, probe, syncEvery = 0, shared = false } = options;
  checkEvery("sampleEvery", sampleEvery);
  if (options.syncEvery !== undefined) checkEvery("syncEvery", syncEvery);
  if (syncEvery > 0 && !probe?.sync)
    throw new RangeError(
      "createTimer: syncEvery needs an engine that can block until its device is done; leave it out",
    );

  const clock = options.clock ?? monotonicClock();
  const origin = clock();
  const infos: SectionInfo[] = [{ name: "step", lane: ownLane, role: null, waitsFor: null }];
  const lanes: string[] = [];
  const handles = new Map<string, Section>();
  const emitter = createGuardedEmitter<TimerEvents>("timer");
  const replay = createReplay({ origin, onUnbalanced: strict ? refuse : undefined });
  const recorder = createRecorder({ clock, probe, shared, limit: (size) => (strict ? 1 : size), drain });
  const own: Track = { recording: recorder.recording, slots: null, tail: 0 };
  const pending = new Set<keyof LateColumns>();
  const source: StepSource = {
    infos,
    lanes,
    pending,
    hasCauses: probe !== undefined,
    totals: replay.totals,
    step: 0,
    // Halves, so that these are stored as doubles from the start.
    startMs: 0.5,
    ms: 0.5,
    residualMs: 0.5,
    overheadUs: 0.5,
    unbalanced: 0,
    dropped: 0,
    tags: NO_TAGS,
  };
  const report = new StepReport(source);
  const now = timeSince(clock, origin);
  let tags = NO_TAGS;
  let enabled = true;
  let frozen = false;
  let inStep = false;
  let closed = false;
  let emitting = false;
  let steps = 0;
  let lastEnd = 0;

  function drain(): number {
    // A listener's own sections must not replace the step that it is shown.
    if (emitting) report.snapshot();
    if (internals.drain()) closed = true;
    return recorder.head;
  }

  function refuse(slot: number, kind: number): never {
    const { name } = infos[slot]!;
    throw new Error(
      kind === STEP_END
        ? `timer: section "${name}" is still open at the end of step ${steps}; stop it in the step that started it`
        : `timer: section "${name}" is stopped but is not the innermost open one; start it first, or use begin() for overlapping work`,
    );
  }

  function laneIndex(name: string, local: boolean): number {
    const known = lanes.indexOf(name);
    if (known >= 0) return known;
    if (lanes.length === MAX_LANES)
      throw new RangeError(
        `timer: lane "${name}" is one more than the ${MAX_LANES} that a timer holds; use one of ${lanes.join(", ")}`,
      );
    replay.addLane(local);
    return lanes.push(name) - 1;
  }

  function addSection(info: SectionInfo, local: boolean): number {
    const slot = infos.length;
    if (slot === MAX_SECTIONS)
      throw new RangeError(
        `timer: section "${info.name}" is one more than the ${MAX_SECTIONS - 1} that a timer holds; make handles once, not in the loop`,
      );
    replay.addSection(slot, laneIndex(info.lane, local), info.role === "wait");
    infos.push(info);
    return slot;
  }

  /** Sections record when the step that they will belong to is measured. */
  function update(): void {
    const on = enabled && steps % sampleEvery === 0;
    if (recorder.on === on) return;
    recorder.flush();
    internals.skip();
    replay.reset();
    recorder.on = on;
  }

  function endSkipped(): void {
    inStep = false;
    update();
  }

  function endStep(): void {
    inStep = false;
    recorder.record(STEP_END);
    const boundaries = (recorder.head - lastEnd) | 0;
    lastEnd = recorder.head;
    recorder.flush();
    if (!closed) return update();
    closed = false;
    const { start, sections, unbalanced, dropped } = replay.totals;
    const closeNs = now() - start - sections[TOTAL]!;
    source.step = steps;
    source.startMs = start / 1e6;
    source.ms = sections[TOTAL]! / 1e6;
    source.residualMs = sections[SELF]! / 1e6;
    source.overheadUs = ((boundaries / 2) * calibration().costColdNs + closeNs) / 1000;
    source.unbalanced = unbalanced;
    source.dropped = dropped;
    source.tags = tags;
    tags = NO_TAGS;
    report.renew();
    emitting = true;
    emitter.emit("report", report);
    emitting = false;
    update();
  }

  function calibration(): Calibration {
    return options.clock ? UNCALIBRATED : calibrate(clock);
  }

  const internals: TimerInternals = {
    recorder,
    own,
    replay,
    infos,
    lanes,
    hasCauses: probe !== undefined,
    addSection,
    laneIndex,
    freeze() {
      frozen = true;
    },
    sources: [{ recording: recorder.recording, sections: infos, local: true, head: () => recorder.head }],
    drain: () => replay.run(own, recorder.head, Infinity),
    skip() {},
  };
  laneIndex(ownLane, true);

  const timer: Timer = {
    get enabled() {
      return enabled;
    },
    set enabled(value) {
      enabled = value;
      if (!inStep) update();
    },
    get sections() {
      return infos.slice(STEP_SLOT + 1);
    },
    get calibration() {
      return calibration();
    },
    now() {
      return now() / 1e6;
    },
    section(name, { lane = ownLane, role = null, waitsFor = null } = {}) {
      const known = handles.get(name);
      if (known) return known;
      if (frozen)
        throw new Error(`timer: section "${name}" comes after shareTimer(), which has told its names; make it before`);
      const section = recorder.section(addSection({ name, lane, role, waitsFor }, true), name);
      handles.set(name, section);
      return section;
    },
    step(fn) {
      if (inStep) {
        if (strict) throw new Error(`timer: step() inside step ${steps}; await that one first`);
        return fn();
      }
      inStep = true;
      steps += 1;
      if (!recorder.on) return runThen(fn, endSkipped);
      if (syncEvery > 0) {
        recorder.syncing = (steps - 1) % syncEvery === 0;
        if (recorder.syncing) timer.mark("sync");
      }
      recorder.record(STEP);
      return runThen(fn, endStep);
    },
    mark(tag) {
      tags = [...tags, tag];
    },
    expectLate(column) {
      pending.add(column);
    },
    late(step, sections) {
      emitter.emit("late", { step, sections });
    },
    on(event, listener) {
      emitter.on(event, listener);
      return timer;
    },
    once(event, listener) {
      emitter.once(event, listener);
      return timer;
    },
    off(event, listener) {
      emitter.off(event, listener);
      return timer;
    },
  };
  setInternals(timer, internals);
  return timer;
}

function checkEvery(name: string, value: number): void {
  if (!Number.isInteger(value) || value < 1)
    throw new RangeError(`createTimer: ${name} is ${value}; give a positive integer`);
}
