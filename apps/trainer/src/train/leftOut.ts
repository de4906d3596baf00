/** Records that were left out, as the log's event `bad-hidden-states` has them. */
export interface LeftOut {
  /** For a reader. */
  readonly message: string;
  /** How many. */
  readonly count: number;
  /** The first few, and why. */
  readonly records: readonly { readonly record: number; readonly reason: string }[];
}

/** Gathers records that are left out, each the first time only. */
export interface LeftOutRecords {
  add(record: number, reason: string): void;
  /** Those since the last call; null when there are none. */
  take(): LeftOut | null;
}

/** Records that are named one by one. */
const named = 3;

/** None so far. A folder may lack thousands: an event a step says enough. */
export function leftOutRecords(): LeftOutRecords {
  const known = new Set<number>();
  let count = 0;
  let records: { record: number; reason: string }[] = [];
  return {
    add(record, reason) {
      if (known.has(record)) return;
      known.add(record);
      count++;
      if (records.length < named) records.push({ record, reason });
    },
    take() {
      if (count === 0) return null;
      const reasons = records.map(({ reason }) => reason).join("; ");
      const rest = count > records.length ? `; and ${count - records.length} more` : "";
      const taken = { message: `${count} record${count === 1 ? "" : "s"} left out: ${reasons}${rest}`, count, records };
      count = 0;
      records = [];
      return taken;
    },
  };
}
