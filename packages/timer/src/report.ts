import { formatReport } from "./formatReport.ts";
import { CAUSE_COUNT } from "./recording.ts";
import { COUNT, OVERLAPPING, PARENT, type Replay, SELF, STEP_SLOT, STRIDE, TOTAL, WORK_FIELDS } from "./replay.ts";
import type { Causes, LaneReport, LateColumns, Report, ReportSnapshot, SectionInfo, SectionReport } from "./timer.ts";

/** What a report looks at. */
export interface ReportSource {
  /** By slot. */
  readonly infos: readonly SectionInfo[];
  readonly lanes: readonly string[];
  readonly replay: Pick<Replay, "closed">;
  /** Late columns that were announced. */
  readonly pending: ReadonlySet<keyof LateColumns>;
  /** Whether there is a probe. */
  readonly hasCauses: boolean;
  step: number;
  overheadUs: number;
  tags: readonly string[];
}

/** The one report of a timer, on the step closed last: nothing is copied or computed until it is read. */
export interface ReportView extends Report {
  addSection(slot: number): void;
  addLane(lane: number): void;
}

/** Makes the view. */
export function createReport(source: ReportSource): ReportView {
  const sections: Record<string, SectionReport> = Object.create(null);
  const lanes: Record<string, LaneReport> = Object.create(null);
  return {
    sections,
    lanes,
    get step() {
      return source.step;
    },
    get startMs() {
      return source.replay.closed.start / 1e6;
    },
    get ms() {
      return source.replay.closed.sections[TOTAL]! / 1e6;
    },
    get residualMs() {
      return source.replay.closed.sections[SELF]! / 1e6;
    },
    get overheadUs() {
      return source.overheadUs;
    },
    get unbalanced() {
      return source.replay.closed.unbalanced;
    },
    get dropped() {
      return source.replay.closed.dropped;
    },
    get tags() {
      return source.tags;
    },
    get causes() {
      return source.hasCauses ? causesOf(source, STEP_SLOT) : null;
    },
    addSection(slot) {
      sections[source.infos[slot]!.name] = new SectionView(source, slot);
    },
    addLane(lane) {
      lanes[source.lanes[lane]!] = new LaneView(source, lane);
    },
    snapshot() {
      return copyReport(this);
    },
    toJSON() {
      return copyReport(this);
    },
    toString() {
      return formatReport(this);
    },
  };
}

class SectionView implements SectionReport {
  readonly name: string;
  readonly lane: string;
  readonly role: string | null;
  readonly waitsFor: string | null;
  readonly #source: ReportSource;
  readonly #slot: number;
  readonly #laneBit: number;

  constructor(source: ReportSource, slot: number) {
    const { name, lane, role, waitsFor } = source.infos[slot]!;
    this.name = name;
    this.lane = lane;
    this.role = role;
    this.waitsFor = waitsFor;
    this.#source = source;
    this.#slot = slot;
    this.#laneBit = 1 << source.lanes.indexOf(lane);
  }

  #field(field: number): number {
    return this.#source.replay.closed.sections[this.#slot * STRIDE + field]!;
  }

  get #dropped(): boolean {
    return (this.#source.replay.closed.droppedLanes & this.#laneBit) !== 0;
  }

  /** A section that is open over the whole step has time and no completed call. */
  get #seen(): boolean {
    return !this.#dropped && (this.#field(COUNT) > 0 || this.#field(TOTAL) > 0);
  }

  get #overlapping(): boolean {
    return this.#field(OVERLAPPING) > 0 && this.#field(SELF) === 0;
  }

  get ms(): number | null {
    return this.#seen ? this.#field(TOTAL) / 1e6 : null;
  }

  get selfMs(): number | null {
    return this.#seen && !this.#overlapping ? this.#field(SELF) / 1e6 : null;
  }

  get count(): number {
    return this.#field(COUNT);
  }

  get reason(): string | undefined {
    if (this.#dropped) return "dropped";
    if (!this.#seen) return "not reached";
    return this.#overlapping ? "overlapping" : undefined;
  }

  get parent(): string | null {
    const slot = this.#field(PARENT);
    return slot > 0 ? this.#source.infos[slot]!.name : null;
  }

  get work(): SectionReport["work"] {
    const [tokens, flops, bytes] = [this.#field(WORK_FIELDS), this.#field(WORK_FIELDS + 1), this.#field(WORK_FIELDS + 2)];
    return tokens > 0 || flops > 0 || bytes > 0 ? { tokens, flops, bytes } : null;
  }

  get causes(): Causes | null {
    return this.#source.hasCauses && this.#seen ? causesOf(this.#source, this.#slot) : null;
  }

  get deviceMs(): null | undefined {
    return this.#source.pending.has("deviceMs") ? null : undefined;
  }

  get gcMs(): null | undefined {
    return this.#source.pending.has("gcMs") ? null : undefined;
  }

  get stallMs(): null | undefined {
    return this.#source.pending.has("stallMs") ? null : undefined;
  }
}

class LaneView implements LaneReport {
  readonly #source: ReportSource;
  readonly #lane: number;

  constructor(source: ReportSource, lane: number) {
    this.#source = source;
    this.#lane = lane;
  }

  /** Time in which all lanes of a set were busy, ns. */
  #busy(set: number): number {
    return this.#source.replay.closed.busySets.reduce((sum, ns, busy) => ((busy & set) === set ? sum + ns : sum), 0);
  }

  get busyMs(): number {
    return this.#busy(1 << this.#lane) / 1e6;
  }

  get waitMs(): number {
    return this.#source.replay.closed.waits[this.#lane]! / 1e6;
  }

  get residualMs(): number {
    const { sections, waits } = this.#source.replay.closed;
    return (sections[TOTAL]! - waits[this.#lane]! - this.#busy(1 << this.#lane)) / 1e6;
  }

  get overlap(): number | null {
    const bit = 1 << this.#lane;
    const busy = this.#busy(bit);
    if (busy === 0 || this.#source.lanes.length === 1) return null;
    return (this.#lane === 0 ? busy - this.#source.replay.closed.busySets[bit]! : this.#busy(bit | 1)) / busy;
  }

  get overlapMs(): Record<string, number> {
    const { lanes } = this.#source;
    return Object.fromEntries(lanes.flatMap((name, lane) => (lane === this.#lane ? [] : [[name, this.#busy((1 << this.#lane) | (1 << lane)) / 1e6]])));
  }
}

function causesOf({ replay }: ReportSource, slot: number): Causes {
  const [kernels, newBytes, tensors, newShapes, syncMs] = Array.from(replay.closed.causes.subarray(slot * CAUSE_COUNT, (slot + 1) * CAUSE_COUNT), (value) =>
    Number.isNaN(value) ? null : value,
  );
  return { kernels: kernels!, newBytes: newBytes!, tensors: tensors!, newShapes: newShapes!, syncMs: syncMs! };
}

function copyReport(report: Report): ReportSnapshot {
  const { step, startMs, ms, residualMs, overheadUs, unbalanced, dropped, causes } = report;
  const sections = Object.entries(report.sections).map(([name, section]): [string, SectionReport] => {
    const { lane, role, waitsFor, selfMs, count, parent, work, reason, deviceMs, gcMs, stallMs } = section;
    const copy: SectionReport = { name, lane, role, waitsFor, ms: section.ms, selfMs, count, parent, work, causes: section.causes };
    if (reason !== undefined) copy.reason = reason;
    if (deviceMs !== undefined) copy.deviceMs = deviceMs;
    if (gcMs !== undefined) copy.gcMs = gcMs;
    if (stallMs !== undefined) copy.stallMs = stallMs;
    return [name, copy];
  });
  const lanes = Object.entries(report.lanes).map(([name, lane]): [string, LaneReport] => {
    const { busyMs, waitMs, residualMs: idleMs, overlap, overlapMs } = lane;
    return [name, { busyMs, waitMs, residualMs: idleMs, overlap, overlapMs }];
  });
  return {
    step,
    startMs,
    ms,
    residualMs,
    overheadUs,
    unbalanced,
    dropped,
    tags: [...report.tags],
    causes,
    sections: Object.fromEntries(sections),
    lanes: Object.fromEntries(lanes),
  };
}
