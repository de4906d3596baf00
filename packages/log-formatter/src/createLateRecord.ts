import type { LateReport } from "@dflash/timer";
import type { LateRecord, SectionRecord } from "./record.ts";

/** The log record of what a timer learnt about a step after its report: device time, garbage collection, stalls. */
export function createLateRecord({ step, sections }: LateReport): LateRecord {
  const late = Object.entries(sections).map(([name, { deviceMs, gcMs, stallMs }]): [string, Partial<SectionRecord>] => {
    const section: Partial<SectionRecord> = {};
    if (deviceMs !== undefined) section.device_ms = deviceMs;
    if (gcMs !== undefined) section.gc_ms = gcMs;
    if (stallMs !== undefined) section.stall_ms = stallMs;
    return [name, section];
  });
  return { kind: "late", step, sections: Object.fromEntries(late) };
}
