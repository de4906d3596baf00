/** One section of a step: times in milliseconds, `null` when they could not be measured, absent when nobody tried. */
export interface SectionRecord {
  /** Wall time in the section. */
  ms: number | null;
  /** `ms` less the sections inside it. */
  self_ms: number | null;
  /** How often it ran in this step. */
  n: number;
  /** Time on the device. */
  device_ms?: number | null;
  /** Time spent waiting for the device. */
  sync_ms?: number | null;
  /** Garbage collection that hit the section. */
  gc_ms?: number | null;
  /** Time in which other callbacks kept the event loop from it. */
  stall_ms?: number | null;
  /** Kernels dispatched. */
  kernels?: number;
  /** Bytes newly allocated. */
  new_bytes?: number;
  /** Shapes seen for the first time. */
  new_shapes?: number;
  /** Tensors alive at its end less those at its start. */
  tensors?: number;
  /** Work done, for rates: tokens, floating-point operations, bytes. */
  tokens?: number;
  /** Floating-point operations done. */
  flops?: number;
  /** Bytes worked on. */
  bytes?: number;
  /** Why a value is null. */
  reason?: string;
}

/** First record of a run and of every attempt at it: what the others refer to. */
export interface HeaderRecord {
  /** Tells records apart. */
  kind: "header";
  /** Version of these types; a breaking change raises it. */
  v: 1;
  /** Name of the run. */
  run: string;
  /** From 1; a resumed run is the next attempt. */
  attempt: number;
  /** Process of a distributed run; 0 if there is one only. */
  rank: number;
  /** Name of the machine. */
  host: string;
  /** Number of the process. */
  pid: number;
  /** Wall clock, ISO 8601 in UTC; the only one in the log. */
  start: string;
  /** Every section, in order of registration. */
  sections: { name: string; parent: string | null; lane: string; role: string | null }[];
  /** What one section costs hot and with cold caches, what an empty one reports, and the clock's step. */
  calibration: { cost_ns: number; cost_cold_ns: number; bias_ns: number; resolution_ns: number };
  /** The resolved configuration of the run. */
  config: unknown;
}

/** One training step. */
export interface StepRecord {
  /** Tells records apart. */
  kind: "step";
  /** From 1. */
  step: number;
  /** As in its header. */
  attempt: number;
  /** Start of the step since the start of the attempt. */
  t_ms: number;
  /** Wall time of the step. */
  ms: number;
  /** The step's time in no section. */
  residual_ms: number;
  /** What the telemetry itself cost in this step. */
  ov_us: number;
  /** By name. */
  sections: Record<string, SectionRecord>;
  /** By name: time busy, time waiting, and the share of the busy time in which another lane was busy too. */
  lanes: Record<string, { busy_ms: number; wait_ms: number; overlap: number | null }>;
  /** The bottleneck, its share of the step and how sure that is, both 0 to 1; null when there is none yet. */
  verdict: { cause: string; share: number; confidence: number } | null;
  /** Results of the step by name. */
  metrics: Record<string, number | null>;
  /** States at its end by name. */
  gauges: Record<string, number | null>;
  /** Marks such as `warmup` and `checkpoint`. */
  tags: string[];
  /** Metrics, gauges and sections that were NaN or infinite, and are null here. */
  nonfinite?: string[];
}

/** What became known after its step was written; readers merge it into that step. */
export interface LateRecord {
  /** Tells records apart. */
  kind: "late";
  /** Step that the columns are of. */
  step: number;
  /** What came late, by section. */
  sections: Record<string, Partial<SectionRecord>>;
}

/** Percentiles of a section's `ms` over the steps that measured it. */
export interface SectionSummary {
  /** Steps that measured the section. */
  n: number;
  /** Steps that could not measure it. */
  missing: number;
  /** Time in all steps. */
  sum_ms: number;
  /** This and the next ones: null when no step measured it. */
  p50: number | null;
  /** 90th percentile. */
  p90: number | null;
  /** 99th percentile. */
  p99: number | null;
  /** The longest. */
  max: number | null;
}

/** Sections over a range of steps; `(step)` and `(residual)` stand for the step itself and its rest. */
export interface SummaryRecord {
  /** Tells records apart. */
  kind: "summary";
  /** First step. */
  from: number;
  /** Last step. */
  to: number;
  /** By name. */
  sections: Record<string, SectionSummary>;
}

/** Something that happened at a step: `slow`, `skip`, `checkpoint`, `tau`, `baseline`, `sink-off`, or a name of your own. */
export interface EventRecord {
  /** Tells records apart. */
  kind: "event";
  /** Step at which it happened. */
  step: number;
  /** What happened: `slow`, `skip`, `checkpoint` … */
  name: string;
  /** What there is to say of it. */
  data: unknown;
}

/** Any line of a log; `kind` tells them apart. */
export type LogRecord = HeaderRecord | StepRecord | LateRecord | SummaryRecord | EventRecord;
