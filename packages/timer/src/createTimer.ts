import { EventEmitter } from "eventemitter3";
import { type Clock, monotonicClock } from "./clock.ts";
import { guardListener } from "./guardListener.ts";
import { createReplay, END, START, STEP, STOP } from "./replay.ts";
import { createReport, type ReportSource, type SectionInfo } from "./report.ts";
import type { Report, Section, SectionOptions, Timer } from "./timer.ts";

/** How a timer is made. */
export interface TimerOptions {
  /** Name of the timer's own lane, whose steps it reports; "main" unless given. */
  lane?: string;
  /** Monotonic clock in nanoseconds, for tests. */
  clock?: Clock;
}

const RING = 8192;
const MAX_LANES = 8;

/**
 * Makes a timer. A boundary (start, stop, step) costs one clock read and one write to a ring; everything else happens when a step closes.
 *
 * @throws RangeError on a ninth lane.
 */
export function createTimer(options: TimerOptions = {}): Timer {
  const clock = options.clock ?? monotonicClock();
  const buffer = new ArrayBuffer(RING * 16);
  const times = new BigInt64Array(buffer);
  const words = new Uint32Array(buffer);
  const origin = clock();
  const originHigh = Number(origin >> 32n);
  const originLow = Number(origin & 0xffffffffn);
  let head = 0;
  let tail = 0;

  const replay = createReplay();
  const infos: SectionInfo[] = [];
  const lanes: string[] = [];
  const handles = new Map<string, Section>();
  const emitter = new EventEmitter<{ report: [Report] }>();
  const guarded = new WeakMap<(report: Report) => void, (report: Report) => void>();
  let enabled = true;
  let on = true;
  let stepping = false;
  let steps = 0;
  let closedStep = 0;
  const source: ReportSource = {
    sections: infos,
    lanes,
    overheadUs: 0,
    get totals() {
      return replay.closed;
    },
    get step() {
      return closedStep;
    },
  };
  const report = createReport(source);

  function record(code: number): void {
    if (head - tail === RING) drain();
    const at = (head % RING) * 2;
    words[at * 2 + 2] = code;
    times[at] = clock();
    head += 1;
  }

  /** Replays what was recorded; true when that closed a step. */
  function drain(): boolean {
    let closed = false;
    for (; tail < head; tail += 1) {
      const at = (tail % RING) * 4;
      closed = replay.event(words[at + 2]!, (words[at + 1]! - originHigh) * 0x1_0000_0000 + words[at]! - originLow);
    }
    return closed;
  }

  function laneIndex(name: string): number {
    const known = lanes.indexOf(name);
    if (known >= 0) return known;
    if (lanes.length === MAX_LANES)
      throw new RangeError(
        `timer: lane "${name}" is one more than the ${MAX_LANES} that a timer holds; give its sections one of ${lanes.join(", ")}`,
      );
    lanes.push(name);
    replay.addLane();
    report.addLane(lanes.length - 1);
    return lanes.length - 1;
  }

  function setOn(value: boolean): void {
    if (on === value) return;
    drain();
    replay.reset();
    on = value;
  }

  function endStep(): void {
    record(END);
    stepping = false;
    closedStep = steps;
    if (drain()) emitter.emit("report", report);
    setOn(enabled);
  }

  laneIndex(options.lane ?? "main");

  const timer: Timer = {
    get enabled() {
      return enabled;
    },
    set enabled(value) {
      enabled = value;
      if (!stepping) setOn(value);
    },
    section(name, { lane = lanes[0]!, role, waitsFor }: SectionOptions = {}) {
      const known = handles.get(name);
      if (known) return known;
      const slot = infos.length;
      replay.addSection(slot, laneIndex(lane), role === "wait");
      infos.push({ name, lane, role: role ?? null, waitsFor: waitsFor ?? null });
      report.addSection(slot);
      const startCode = slot * 4 + START;
      const stopCode = slot * 4 + STOP;
      const section: Section = {
        name,
        start() {
          if (on) record(startCode);
        },
        stop() {
          if (on) record(stopCode);
        },
        time(fn) {
          section.start();
          return around(fn, section.stop);
        },
      };
      handles.set(name, section);
      return section;
    },
    step(fn) {
      if (stepping) return fn();
      steps += 1;
      if (!on) return fn();
      stepping = true;
      record(STEP);
      return around(fn, endStep);
    },
    on(event, listener) {
      emitter.on(event, guard(event, listener));
      return timer;
    },
    once(event, listener) {
      emitter.once(event, guard(event, listener));
      return timer;
    },
    off(event, listener) {
      emitter.off(event, guarded.get(listener));
      return timer;
    },
  };

  function guard(event: "report", listener: (report: Report) => void): (report: Report) => void {
    const known = guarded.get(listener);
    if (known) return known;
    const made = guardListener(event, listener);
    guarded.set(listener, made);
    return made;
  }
  return timer;
}

/** Runs `fn` and `done` after it, also when it throws; after a promise has settled. */
function around<T>(fn: () => T, done: () => void): T {
  let result: T;
  try {
    result = fn();
  } catch (error) {
    done();
    throw error;
  }
  if (!(result instanceof Promise)) {
    done();
    return result;
  }
  return result.finally(done) as T;
}
