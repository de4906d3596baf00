import { calibrate, UNCALIBRATED } from "./calibrate.ts";
import { type Clock, createStopwatch, monotonicClock } from "./clock.ts";
import { createGuardedEmitter } from "./guardedEmitter.ts";
import { createRecorder } from "./recorder.ts";
import { createRecording, STEP, STEP_END } from "./recording.ts";
import { createReplay, MAX_LANES, MAX_SECTIONS, STEP_SLOT, STRIDE, TOTAL } from "./replay.ts";
import { createReport, type ReportSource } from "./report.ts";
import { runThen } from "./runThen.ts";
import { createSlowSteps } from "./slowSteps.ts";
import { createStepStatistics } from "./stepStatistics.ts";
import type { Calibration, CauseProbe, LateColumns, Section, SectionInfo, SlowStep, StepSpans, Timer, TimerEvents } from "./timer.ts";
import { createTracks } from "./tracks.ts";

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

/** Closed steps that are remembered, four numbers each: step, start and time in ns, boundaries written before it. */
const REMEMBERED = 64;
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
  if (syncEvery > 0 && !probe?.sync) throw new RangeError("createTimer: syncEvery needs an engine that can block until its device is done; leave it out");

  const clock = options.clock ?? monotonicClock();
  const origin = clock();
  const infos: SectionInfo[] = [{ name: "step", lane: ownLane, role: null, waitsFor: null }];
  const lanes: string[] = [];
  const handles = new Map<string, Section>();
  const emitter = createGuardedEmitter<TimerEvents>("timer");
  const statistics = createStepStatistics();
  const slowSteps = createSlowSteps();
  const replay = createReplay({ origin, onUnbalanced: strict ? refuse : undefined });
  const recorder = createRecorder({ clock, probe, shared, limit: (size) => (strict ? 1 : size), drain });
  const tracks = createTracks(recorder, replay, infos);
  const pending = new Set<keyof LateColumns>();
  const source: ReportSource = { infos, lanes, replay, pending, hasCauses: probe !== undefined, step: 0, overheadUs: 0.5, tags: NO_TAGS };
  const report = createReport(source);
  const remembered = new Float64Array(REMEMBERED * 4);
  const cost = createStopwatch(clock);
  let tags = NO_TAGS;
  let enabled = true;
  let frozen = false;
  let inStep = false;
  let closed = false;
  let steps = 0;
  let lastEnd = 0;

  function drain(): number {
    if (tracks.drain()) closed = true;
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
    if (lanes.length === MAX_LANES) throw new RangeError(`timer: lane "${name}" is one more than the ${MAX_LANES} that a timer holds; use one of ${lanes.join(", ")}`);
    replay.addLane(local);
    report.addLane(lanes.push(name) - 1);
    return lanes.length - 1;
  }

  function addSection(info: SectionInfo, local: boolean): number {
    const slot = infos.length;
    if (slot === MAX_SECTIONS) throw new RangeError(`timer: section "${info.name}" is one more than the ${MAX_SECTIONS - 1} that a timer holds; make handles once, not in the loop`);
    replay.addSection(slot, laneIndex(info.lane, local), info.role === "wait");
    infos.push(info);
    report.addSection(slot);
    statistics.addSection(info.name);
    return slot;
  }

  /** Sections record when the step that they will belong to is measured. */
  function update(): void {
    const on = enabled && steps % sampleEvery === 0;
    if (recorder.on === on) return;
    drain();
    tracks.skip();
    replay.reset();
    recorder.on = on;
  }

  function endSkipped(): void {
    inStep = false;
    update();
  }

  function endStep(): void {
    recorder.record(STEP_END);
    recorder.syncing = false;
    const end = recorder.head;
    const events = (end - lastEnd) | 0;
    cost.begin();
    drain();
    inStep = false;
    if (!closed) return update();
    closed = false;
    const { start, sections } = replay.closed;
    const ns = sections[STEP_SLOT * STRIDE + TOTAL]!;
    const at = (steps % REMEMBERED) * 4;
    remembered[at] = steps;
    remembered[at + 1] = start;
    remembered[at + 2] = ns;
    remembered[at + 3] = lastEnd;
    lastEnd = end;
    source.step = steps;
    source.tags = tags;
    tags = NO_TAGS;
    const isPlain = source.tags.length === 0;
    if (isPlain || !source.tags.includes("warmup")) statistics.add(steps, sections);
    const isSlow = isPlain && slowSteps.add(ns);
    const closeNs = cost.ns();
    source.overheadUs = ((events / 2) * calibration().costColdNs + closeNs) / 1000;
    emitter.emit("report", report);
    if (isSlow && emitter.has("slow")) emitter.emit("slow", slowStep(steps, ns));
    update();
  }

  function slowStep(step: number, ns: number): SlowStep {
    const context = [3, 2, 1, 0].map((back) => spans(step - back)).filter((known) => known !== null);
    return { step, ms: ns / 1e6, medianMs: slowSteps.median / 1e6, madMs: slowSteps.mad / 1e6, steps: context };
  }

  function spans(step: number): StepSpans | null {
    const [known = 0, start = 0, ns = 0, first = 0] = remembered.subarray((step % REMEMBERED) * 4);
    if (known !== step || step === 0 || ((recorder.head - first) | 0) > recorder.recording.size) return null;
    return { step, startMs: start / 1e6, ms: ns / 1e6, spans: tracks.spans(start, start + ns) };
  }

  function calibration(): Calibration {
    return options.clock ? UNCALIBRATED : calibrate(clock);
  }

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
      return Number(clock() - origin) / 1e6;
    },
    section(name, { lane = ownLane, role = null, waitsFor = null } = {}) {
      const known = handles.get(name);
      if (known) return known;
      if (frozen) throw new Error(`timer: section "${name}" comes after share(), which has told the other threads all names; make it before`);
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
      recorder.syncing = syncEvery > 0 && (steps - 1) % syncEvery === 0;
      if (recorder.syncing) timer.mark("sync");
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
    spans,
    summary: statistics.summary,
    window: statistics.window,
    share() {
      if (!shared) throw new Error("timer: share() needs createTimer({ shared: true })");
      frozen = true;
      return { buffer: recorder.recording.buffer, causes: probe !== undefined, sections: infos };
    },
    attach({ buffer, causes, sections }) {
      const used = [...new Set(sections.map((section) => section.lane))];
      const taken = used.find((lane) => lanes.includes(lane));
      if (taken !== undefined) throw new RangeError(`timer: lane "${taken}" is here already; give the other thread's timer and its sections a lane of their own`);
      const renamed = sections.map((section) => (report.sections[section.name] ? { ...section, name: `${section.name}@${section.lane}` } : section));
      const slots = renamed.map((section, slot) => (slot === STEP_SLOT ? STEP_SLOT : addSection(section, false)));
      tracks.attach(createRecording(causes, buffer), slots, renamed, used.map((lane) => laneIndex(lane, false)));
    },
    on(event, listener) {
      emitter.on(event, listener);
      return timer;
    },
    once(event, listener) {
      emitter.on(event, listener, true);
      return timer;
    },
    off(event, listener) {
      emitter.off(event, listener);
      return timer;
    },
  };
  return timer;
}

function checkEvery(name: string, value: number): void {
  if (!Number.isInteger(value) || value < 1) throw new RangeError(`createTimer: ${name} is ${value}; give a positive integer`);
}
