import type { Clock } from "./clock.ts";
import {
  BEGIN,
  createRecording,
  END,
  LAP,
  placeOf,
  type Recording,
  RECORDING_BYTES,
  SETTLE,
  START,
  STOP,
  WORK,
} from "./recording.ts";
import { runThen } from "./runThen.ts";
import type { Section, Token, WorkUnit } from "./section.ts";

/** Writes boundaries of sections: the only part of a timer that runs inside a step. */
export interface Recorder {
  readonly recording: Recording;
  /** Boundaries written so far, modulo 2^32. */
  head: number;
  /** Whether sections record. */
  on: boolean;
  /** Called with the number of every boundary. */
  observe?: (boundary: number) => void;
  /** Called before a section stops. */
  sync?: (() => void) | undefined;
  /** Writes a boundary; a token tells overlapping runs apart. */
  record(code: number, token?: number): void;
  section(slot: number, name: string): Section;
}

const UNITS: Readonly<Record<WorkUnit, number>> = { tokens: 0, flops: 1, bytes: 2 };

/**
 * Makes the recorder of a timer. A boundary touches one cache line of data; when `most` stand unread, `drain` takes them in and returns up to which.
 * A start reads the clock last and a stop first, so that a section holds as little of the recorder as can be.
 */
export function createRecorder(clock: Clock, shared: boolean, most: number, drain: () => number): Recorder {
  const buffer = new (shared ? SharedArrayBuffer : ArrayBuffer)(RECORDING_BYTES);
  const recording = createRecording(buffer);
  const { words, floats, times } = recording;
  let tail = 0;
  let tokens = 0;
  const recorder: Recorder = {
    recording,
    head: 0,
    on: true,
    record,
    section: (slot, name) => new RecordedSection(slot, name),
  };

  function record(code: number, token = 0): void {
    const at = placeOf(recorder.head);
    words[at * 2 + 2] = code;
    words[at * 2 + 3] = token;
    times[at] = clock();
    recorder.observe?.(recorder.head);
    wrote();
  }

  function wrote(): void {
    recorder.head = (recorder.head + 1) | 0;
    if (shared) Atomics.store(words, 0, recorder.head);
    if (((recorder.head - tail) | 0) >= most) tail = drain();
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
      if (recorder.on) record(this.code + START);
      return this;
    }

    stop(): void {
      this.end(STOP);
    }

    lap(): void {
      if (recorder.on) record(this.code + LAP);
    }

    begin(): Token {
      const token = (tokens += 1);
      const end = (): void => {
        if (recorder.on) record(this.code + END, token);
      };
      if (recorder.on) record(this.code + BEGIN, token);
      return { end, [Symbol.dispose]: end };
    }

    time<T>(fn: () => T): T {
      if (!recorder.on) return fn();
      record(this.code + START);
      return runThen(fn, this.settle);
    }

    add(unit: WorkUnit, amount: number): void {
      if (!recorder.on) return;
      const at = placeOf(recorder.head);
      words[at * 2 + 2] = this.code + WORK;
      words[at * 2 + 3] = UNITS[unit];
      floats[at] = amount;
      wrote();
    }

    [Symbol.dispose](): void {
      this.stop();
    }

    private end(kind: number): void {
      if (!recorder.on) return;
      recorder.sync?.();
      record(this.code + kind);
    }
  }

  return recorder;
}
