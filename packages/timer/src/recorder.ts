import type { Clock } from "./clock.ts";
import {
  BEGIN,
  CAUSES,
  createRecording,
  END,
  HEADER,
  LAP,
  type Recording,
  RECORDING_BYTES,
  SETTLE,
  START,
  STOP,
  WORK,
} from "./recording.ts";
import { runThen } from "./runThen.ts";
import type { CauseProbe } from "./causes.ts";
import type { Section, Token, WorkUnit } from "./section.ts";

/** Writes boundaries of sections: the only part of a timer that runs inside a step. */
export interface Recorder {
  readonly recording: Recording;
  /** Boundaries written so far, modulo 2^32. */
  head(): number;
  /** Whether sections record. */
  isOn(): boolean;
  turn(on: boolean): void;
  /** Whether sections wait for the device before they stop. */
  sync(on: boolean): void;
  /** Writes a boundary; a token tells overlapping runs apart. */
  record(code: number, token?: number): void;
  section(slot: number, name: string): Section;
}

/** How a recorder is made. */
export interface RecorderOptions {
  clock: Clock;
  probe?: CauseProbe | undefined;
  shared?: boolean | undefined;
  /** How many boundaries may stand in the recording unread; as many as it holds unless given. */
  most?: number | undefined;
  /** Takes them in; returns up to which. */
  drain: () => number;
}

const UNITS: Readonly<Record<WorkUnit, number>> = { tokens: 0, flops: 1, bytes: 2 };

/**
 * Makes the recorder of a timer. All state lies in this closure, so that compiled code holds its addresses; a boundary touches one cache line of data.
 * A start reads the clock last and a stop first, so that a section holds as little of the recorder as can be.
 */
export function createRecorder({ clock, probe, shared = false, most, drain }: RecorderOptions): Recorder {
  const recording = createRecording(
    probe !== undefined,
    shared ? new SharedArrayBuffer(RECORDING_BYTES) : new ArrayBuffer(RECORDING_BYTES),
  );
  const { words, floats, times, size, stride } = recording;
  const counters = new Int32Array(recording.buffer);
  const mask = size - 1;
  const limit = most ?? size;
  let head = 0;
  let tail = 0;
  let on = true;
  let syncing = false;
  let tokens = 0;

  function record(code: number, token = 0): void {
    const at = HEADER + (head & mask) * stride;
    words[at * 2 + 2] = code;
    words[at * 2 + 3] = token;
    times[at] = clock();
    if (probe !== undefined) readCauses(at + CAUSES, probe);
    wrote();
  }

  function wrote(): void {
    head = (head + 1) | 0;
    if (shared) Atomics.store(counters, 0, head);
    if (((head - tail) | 0) >= limit) tail = drain();
  }

  function readCauses(at: number, { kernels, newBytes, tensors, newShapes, syncMs }: CauseProbe): void {
    floats[at] = kernels ?? Number.NaN;
    floats[at + 1] = newBytes ?? Number.NaN;
    floats[at + 2] = tensors ?? Number.NaN;
    floats[at + 3] = newShapes ?? Number.NaN;
    floats[at + 4] = syncMs ?? Number.NaN;
  }

  class RecordedSection implements Section {
    readonly name: string;
    private readonly code: number;
    private readonly settle: () => void;

    constructor(slot: number, name: string) {
      this.name = name;
      this.code = slot << 4;
      this.settle = () => this.end(SETTLE);
    }

    start(): this {
      if (on) record(this.code + START);
      return this;
    }

    stop(): void {
      if (on) this.end(STOP);
    }

    lap(): void {
      if (on) record(this.code + LAP);
    }

    begin(): Token {
      tokens += 1;
      if (on) record(this.code + BEGIN, tokens);
      return new RecordedToken(this.code + END, tokens);
    }

    time<T>(fn: () => T): T {
      if (!on) return fn();
      record(this.code + START);
      return runThen(fn, this.settle);
    }

    add(unit: WorkUnit, amount: number): void {
      if (!on) return;
      const at = HEADER + (head & mask) * stride;
      words[at * 2 + 2] = this.code + WORK;
      words[at * 2 + 3] = UNITS[unit];
      floats[at] = amount;
      wrote();
    }

    [Symbol.dispose](): void {
      this.stop();
    }

    private end(kind: number): void {
      if (!on) return;
      if (syncing) probe!.sync!();
      record(this.code + kind);
    }
  }

  class RecordedToken implements Token {
    private readonly code: number;
    private readonly token: number;

    constructor(code: number, token: number) {
      this.code = code;
      this.token = token;
    }

    end(): void {
      if (on) record(this.code, this.token);
    }

    [Symbol.dispose](): void {
      this.end();
    }
  }

  return {
    recording,
    record,
    section: (slot, name) => new RecordedSection(slot, name),
    head: () => head,
    isOn: () => on,
    turn(value) {
      on = value;
    },
    sync(value) {
      syncing = value;
    },
  };
}
