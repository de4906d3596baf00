import type { EngineMemory, EngineName } from "@dflash/engine";
import type { SharedTimer, StreamedTimer } from "@dflash/timer/lanes";
import type { HostMatrix } from "../hostHiddenStates.ts";
import type { CaptureOptions } from "../targetModel.ts";
import type { TokenBatch } from "../tokenBatch.ts";

/** How hidden states travel: as they were computed, or rounded to half as many bytes. */
export type WireFormat = "float32" | "bfloat16";

/** The engine of each worker. */
export interface WorkerEngine {
  /** `auto` unless given. */
  readonly name?: EngineName | "auto";
  /** Threads of each engine; 1 unless given, since the consumer's engine computes at the same time. */
  readonly threads?: number;
  /** Folder to look for native engines in first, such as the app's: a process of its own has another main script. */
  readonly resolveFrom?: string;
}

/** The first message to a worker. */
export interface WorkerSetup {
  readonly kind: "setup";
  readonly module: string;
  readonly options: unknown;
  readonly engine: WorkerEngine;
  readonly lane: string;
  readonly wire: WireFormat;
  /** Whether to record sections in memory that the consumer's thread reads. */
  readonly timed: boolean;
}

/** Every later message to a worker. */
export interface WorkerRequest {
  readonly kind: "forward";
  readonly id: number;
  readonly batch: TokenBatch;
  readonly capture: CaptureOptions;
}

export type WorkerMessage = WorkerSetup | WorkerRequest;

/** The last message to the thread of a process, which it ends. */
export interface WorkerEnd {
  readonly kind: "end";
}

/** What the thread of a process is started with. */
export interface RelayData {
  /** What the process runs. */
  readonly file: string;
  /** Added to its environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** File descriptor on which a process sends the boundaries of its sections. */
export const boundaryPipe = 4;

/** The model is loaded. */
export interface WorkerReady<Times = SharedTimer> {
  readonly kind: "ready";
  readonly layers: number;
  readonly hiddenSize: number;
  /** The engine's description. */
  readonly engine: string;
  readonly timer: Times | null;
}

/** Messages from a worker; `id` is null when it failed before it was ready. */
export type WorkerReply<Times = SharedTimer> =
  | WorkerReady<Times>
  | {
      readonly kind: "states";
      readonly id: number;
      readonly features: readonly HostMatrix[];
      readonly last: HostMatrix | null;
      /** What the worker's engine holds. */
      readonly memory: EngineMemory;
    }
  | { readonly kind: "failed"; readonly id: number | null; readonly message: string };

/** Messages from a process, which shares no memory. */
export type ProcessReply = WorkerReply<StreamedTimer>;
