import { createAccount } from "./account.ts";
import { calibrate, UNCALIBRATED } from "./calibrate.ts";
import { createCauseSums } from "./causeSums.ts";
import { createNow, createTimeAt, monotonicClock } from "./clock.ts";
import { createGuardedEmitter } from "./guardedEmitter.ts";
import { setInternals, type TimerInternals } from "./internals.ts";
import { createRecorder } from "./recorder.ts";
import { STEP, STEP_END } from "./recording.ts";
import { createRegistry } from "./registry.ts";
import { createReplay } from "./replay.ts";
import type { LateColumns } from "./report.ts";
import { runThen } from "./runThen.ts";
import type { Section } from "./section.ts";
import { createStepTotals, SELF, STEP_SLOT, TOTAL } from "./stepTotals.ts";
import { StepReport } from "./stepReport.ts";
import type { Calibration, Timer, TimerEvents } from "./timer.ts";
import { checkOptions, type TimerOptions } from "./timerOptions.ts";

const NO_TAGS: readonly string[] = [];

/**
 * Makes a timer. A boundary of a section costs one clock read and one write to a ring; the rest happens when a step closes. Nothing is allocated in between.
 *
 * @throws RangeError on a `sampleEvery` or `syncEvery` that is no positive integer, and on a `syncEvery` when the probe can't block.
 */
export function createTimer(options: TimerOptions = {}): Timer {
  const { lane: ownLane = "main", strict = false, sampleEvery = 1, probe, syncEvery = Infinity, shared } = options;
  checkOptions(options);
  const clock = options.clock ?? monotonicClock();
  const origin = clock();
  const registry = createRegistry(ownLane);
  const { infos } = registry;
  const totals = createStepTotals();
  const handles = new Map<string, Section>();
  const emitter = createGuardedEmitter<TimerEvents>("timer");
  const recorder = createRecorder({ clock, probe, shared, most: strict ? 1 : undefined, drain });
  const { recording } = recorder;
  const timeAt = createTimeAt(recording.words, origin);
  const causes = createCauseSums(totals.causes, recording.floats);
  const account = createAccount({ registry, totals, causes, onUnbalanced: strict ? refuse : undefined });
  const replay = createReplay({ recording, timeAt, account, totals, causes });
  const pending = new Set<keyof LateColumns>();
  const report = new StepReport({ registry, totals, pending, hasCauses: probe !== undefined });
  const now = createNow(clock, origin);
  let tags = NO_TAGS;
  let enabled = true;
  let inStep = false;
  let closed = false;
  let emitting = false;
  let steps = 0;
  let lastHead = 0;

  /** The recording is as full as it may get; what a listener times must wait, or the step that it is shown be spelled out first. */
  function drain(): number {
    if (emitting) {
      if (((recorder.head() - replay.tail()) | 0) < recording.size) return replay.tail();
      report.snapshot();
      endEmit();
    }
    if (internals.drain()) closed = true;
    return recorder.head();
  }

  function endEmit(): void {
    emitting = false;
    totals.clear(infos.length, registry.lanes.length);
  }

  function refuse(slot: number, kind: number): never {
    const what = `timer: section "${infos[slot]!.name}" is`;
    throw new Error(
      kind === STEP_END
        ? `${what} still open at the end of step ${steps}; stop it in the step that started it`
        : `${what} stopped but is not the innermost open one; start it first, or use begin() for overlapping work`,
    );
  }

  /** Sections record when the step that they will belong to is measured. */
  function update(): void {
    const on = enabled && steps % sampleEvery === 0;
    if (recorder.isOn() === on) return;
    drain();
    internals.skip();
    account.reset();
    totals.clear(infos.length, registry.lanes.length);
    recorder.turn(on);
  }

  function endSkipped(): void {
    inStep = false;
    update();
  }

  function endStep(): void {
    inStep = false;
    recorder.record(STEP_END);
    drain();
    if (!closed) return update();
    closed = false;
    const { start, sections, unbalanced, dropped } = totals;
    const stepNs = sections[STEP_SLOT + TOTAL]!;
    const boundaries = (recorder.head() - lastHead) | 0;
    lastHead = recorder.head();
    report.step = steps;
    report.startMs = start / 1e6;
    report.ms = stepNs / 1e6;
    report.residualMs = sections[STEP_SLOT + SELF]! / 1e6;
    report.unbalanced = unbalanced;
    report.dropped = dropped;
    report.tags = tags;
    report.overheadUs = ((boundaries / 2) * calibration().costColdNs + now() - start - stepNs) / 1000;
    report.renew();
    tags = NO_TAGS;
    emitting = true;
    emitter.emit("report", report);
    if (emitting) endEmit();
    update();
  }

  const calibration = (): Calibration => (options.clock ? UNCALIBRATED : calibrate(clock));

  const internals: TimerInternals = {
    registry,
    recorder,
    replay,
    account,
    causes,
    totals,
    origin,
    sources: [{ recording, timeAt, sections: infos, local: true, head: () => recorder.head() }],
    drain: () => replay.run(recorder.head(), Infinity),
    skip() {},
  };

  const timer: Timer = {
    get enabled() {
      return enabled;
    },
    set enabled(value) {
      enabled = value;
      if (!inStep && !emitting) update();
    },
    get sections() {
      return infos.slice(STEP_SLOT + 1);
    },
    get calibration() {
      return calibration();
    },
    now: () => now() / 1e6,
    section(name, { lane = ownLane, role = null, waitsFor = null } = {}) {
      let section = handles.get(name);
      if (section) return section;
      if (internals.frozen) throw new Error(`timer: section "${name}" ${internals.frozen}`);
      section = recorder.section(registry.add({ name, lane, role, waitsFor }, true), name);
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
      if (!recorder.isOn()) return runThen(fn, endSkipped);
      if (syncEvery !== Infinity) {
        const syncs = (steps - 1) % syncEvery === 0;
        recorder.sync(syncs);
        if (syncs) timer.mark("sync");
      }
      recorder.record(STEP);
      return runThen(fn, endStep);
    },
    mark(tag) {
      tags = [...tags, tag];
    },
    expectLate: (column) => void pending.add(column),
    late: (step, sections) => emitter.emit("late", { step, sections }),
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
