import { calibrate, UNCALIBRATED } from "./calibrate.ts";
import { createNow, createTimeAt, monotonicClock } from "./clock.ts";
import { createGuardedEmitter } from "./guardedEmitter.ts";
import { setInternals, type TimerInternals } from "./internals.ts";
import { createRecorder } from "./recorder.ts";
import { SIZE, STEP, STEP_END } from "./recording.ts";
import { runThen } from "./runThen.ts";
import type { Section, SectionInfo } from "./section.ts";
import { createSerialReplay } from "./serialReplay.ts";
import { StepReport } from "./stepReport.ts";
import { createStepTotals, MAX_SECTIONS, SELF, STEP_SLOT, TOTAL } from "./stepTotals.ts";
import type { Calibration, Timer, TimerEvents } from "./timer.ts";
import type { TimerOptions } from "./timerOptions.ts";

const NO_TAGS: readonly string[] = [];

/**
 * Makes a timer. A boundary of a section costs one clock read and one write to a ring; the rest happens when a step closes. Nothing is allocated in between.
 *
 * @throws RangeError on a `sampleEvery` that is no positive integer.
 */
export function createTimer(options: TimerOptions = {}): Timer {
  const { lane: ownLane = "main", strict = false, sampleEvery = 1, shared = false } = options;
  if (sampleEvery % 1 !== 0 || sampleEvery < 1)
    throw new RangeError(`timer: sampleEvery is ${sampleEvery}; give a positive integer`);

  const clock = options.clock ?? monotonicClock();
  const origin = clock();
  const now = createNow(clock, origin);
  const emitter = createGuardedEmitter<TimerEvents>("timer");
  const handles: Record<string, Section> = Object.create(null);
  const recorder = createRecorder(clock, shared, strict ? 1 : SIZE, drain);
  const infos: SectionInfo[] = [{ name: "step", lane: ownLane, role: null, waitsFor: null }];
  const totals = createStepTotals();
  const parts = {
    recorder,
    timeAt: createTimeAt(recorder.recording.words, origin),
    totals,
    infos,
    refuse: strict ? refuse : undefined,
  };
  const internals: TimerInternals = {
    ...parts,
    origin,
    replay: createSerialReplay(parts),
    byName: {},
    late: {},
    others: [],
    add,
  };
  const report = new StepReport(internals);
  let tags = NO_TAGS;
  let enabled = true;
  let inStep = false;
  let closed = false;
  let emitting = false;
  let steps = 0;
  let lastHead = 0;

  /** The recording is as full as it may get; what a listener times must wait, or the step that it is shown be spelled out first. */
  function drain(): number {
    const { replay } = internals;
    if (emitting) {
      if (((recorder.head - replay.tail) | 0) < SIZE) return replay.tail;
      report.snapshot();
      endEmit();
    }
    if (replay.run(recorder.head)) closed = true;
    return recorder.head;
  }

  function endEmit(): void {
    if (emitting) internals.replay.clear();
    emitting = false;
  }

  function refuse(slot: number, kind: number): never {
    throw new Error(
      `timer: section "${infos[slot]!.name}" is ${
        kind === STEP_END
          ? `open at the end of step ${steps}; stop it first`
          : "not the innermost open one; start it first, or use begin()"
      }`,
    );
  }

  function add(info: SectionInfo): number {
    if (infos.length === MAX_SECTIONS)
      throw new RangeError(`timer: section "${info.name}" is past ${MAX_SECTIONS - 1}; make handles once`);
    // V8 keeps keys that are set one by one in a hash table beyond a dozen of them, which is slow; those of an object from JSON lie in a row, and its copies' too.
    internals.byName = JSON.parse(JSON.stringify({ ...internals.byName, [info.name]: null }));
    return infos.push(info) - 1;
  }

  /** Sections record when the step that they will belong to is measured. */
  function update(): void {
    const on = enabled && steps % sampleEvery === 0;
    if (inStep || emitting || recorder.on === on) return;
    drain();
    internals.replay.reset();
    internals.replay.clear();
    recorder.on = on;
  }

  function endStep(): void {
    inStep = false;
    if (recorder.on) {
      recorder.record(STEP_END);
      drain();
    }
    if (closed) {
      closed = false;
      const stepNs = totals.sections[STEP_SLOT + TOTAL]!;
      const costNs = (((recorder.head - lastHead) | 0) / 2) * calibration().costColdNs;
      report.step = steps;
      report.startMs = totals.start / 1e6;
      report.ms = stepNs / 1e6;
      report.residualMs = totals.sections[STEP_SLOT + SELF]! / 1e6;
      report.unbalanced = totals.unbalanced;
      report.dropped = totals.dropped;
      report.tags = tags;
      report.overheadUs = (costNs + now()[0]! - totals.start - stepNs) / 1000;
      report.renew();
      lastHead = recorder.head;
      tags = NO_TAGS;
      emitting = true;
      emitter.emit("report", report);
      endEmit();
    }
    update();
  }

  const listen =
    (method: "on" | "once" | "off"): Timer["on"] =>
    (event, listener) => {
      emitter[method](event, listener);
      return timer;
    };
  const calibration = (): Calibration => (options.clock ? UNCALIBRATED : calibrate(clock));

  const timer: Timer = {
    on: listen("on"),
    once: listen("once"),
    off: listen("off"),
    get enabled() {
      return enabled;
    },
    set enabled(value) {
      enabled = value;
      update();
    },
    get sections() {
      return infos.slice(STEP_SLOT + 1);
    },
    get calibration() {
      return calibration();
    },
    now: () => now()[0]! / 1e6,
    section(name, { lane = ownLane, role = null, waitsFor = null } = {}) {
      return (handles[name] ??= recorder.section(internals.add({ name, lane, role, waitsFor }), name));
    },
    step(fn) {
      if (inStep) {
        if (strict) throw new Error(`timer: step() inside step ${steps}; await that first`);
        return fn();
      }
      inStep = true;
      steps += 1;
      if (recorder.on) recorder.record(STEP);
      return runThen(fn, endStep);
    },
    mark(tag) {
      tags = [...tags, tag];
    },
    expectLate(column) {
      internals.late[column] = null;
    },
    late: (step, sections) => emitter.emit("late", { step, sections }),
  };
  setInternals(timer, internals);
  return timer;
}
