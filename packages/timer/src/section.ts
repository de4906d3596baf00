/// <reference lib="esnext.disposable" />

/** What a section means to the verdict: declared, not guessed from its name. */
export interface SectionOptions {
  /** Lane the section runs in; the timer's own lane unless given. */
  lane?: string;
  /**
   * What it does: `wait` marks time spent waiting; `data`, `packing`, `block-mask`, `optimizer`, `log` and `checkpoint` are causes that a
   * verdict can name. Other words are kept as they are.
   */
  role?: string;
  /** The lane that a `wait` section waits for. */
  waitsFor?: string;
}

/** A section as it was registered. */
export interface SectionInfo {
  /** As it was registered. */
  readonly name: string;
  /** The lane that it is in. */
  readonly lane: string;
  /** What it means to the verdict, such as `wait`; null when none was given. */
  readonly role: string | null;
  /** The lane that a `wait` waits for; null when none was given. */
  readonly waitsFor: string | null;
}

/** What a section's work is counted in: tokens, floating-point operations, bytes. */
export type WorkUnit = "tokens" | "flops" | "bytes";

/** One of several overlapping runs of a section. */
export interface Token extends Disposable {
  /** Closes this run. */
  end(): void;
}

/** Handle of a named section: made once at start, used in every step. */
export interface Section extends Disposable {
  /** As it was registered. */
  readonly name: string;
  /** Opens the section; `using _ = section.start()` closes it with the block. */
  start(): this;
  /** Closes the section. */
  stop(): void;
  /** Closes the phase that the last `lap` opened and opens this one, with one clock read. The last phase ends with `stop`, with the section around it, or with the step. */
  lap(): void;
  /** Opens one of several overlapping runs, for async work. Their section's `ms` is the time in which any was open; it has no self time. */
  begin(): Token;
  /** Runs `fn` inside the section; an async function is awaited, and whatever else returns something with a `then`, in whose place comes a promise. Of overlapping async calls each instant goes to the one that began last. */
  time<T>(fn: () => T): T;
  /** Counts work done by the section in this step, for its rates. */
  add(unit: WorkUnit, amount: number): void;
}
