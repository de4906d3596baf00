import type { LateReport } from "@dflash/timer";
import type { LateRecord, SectionRecord } from "./record.ts";

/** The log record of what a timer learnt about a step after its report: device time, garbage collection, stalls. */
export function createLateRecord({ step, sections }: LateReport): LateRecord {
  const late: LateRecord["sections"] = {};
  for (const [name, { deviceMs, gcMs, stallMs }] of Object.entries(sections)) {
    const section: Partial<SectionRecord> = {};
    if (deviceMs !== undefined) section.device_ms = deviceMs;
    if (gcMs !== undefined) section.gc_ms = gcMs;
    if (stallMs !== undefined) section.stall_ms = stallMs;
    late[name] = section;
  }
  return { kind: "late", step, sections: late };
}
