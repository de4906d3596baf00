import type { SectionRecord, StepRecord } from "../record.ts";
import { type Columns, extras } from "./tsvColumns.ts";

type Group = "sections" | "lanes" | "metrics" | "gauges";
type More = Map<Group, Map<string, unknown>>;

/** What a record has and the columns lack, in the record's own form; undefined if nothing. */
export function leftover(record: StepRecord, columns: Columns): object | undefined {
  let more: More | undefined;
  for (const name in record.sections) {
    const section = record.sections[name]!;
    const listed = columns.sections.get(name);
    if (listed === undefined) more = keep(more, "sections", name, section);
    else if (countExtras(section) > listed.length || listed.some((extra) => section[extra] === undefined)) {
      const others = extras.filter((extra) => section[extra] !== undefined && !listed.includes(extra));
      if (others.length > 0)
        more = keep(more, "sections", name, Object.fromEntries(others.map((extra) => [extra, section[extra]])));
    }
  }
  for (const name in record.lanes) if (!columns.lanes.has(name)) more = keep(more, "lanes", name, record.lanes[name]);
  for (const name in record.metrics)
    if (!columns.metrics.has(name)) more = keep(more, "metrics", name, record.metrics[name]);
  for (const name in record.gauges)
    if (!columns.gauges.has(name)) more = keep(more, "gauges", name, record.gauges[name]);
  return more && Object.fromEntries([...more].map(([group, values]) => [group, Object.fromEntries(values)]));
}

function keep(more: More = new Map(), group: Group, name: string, value: unknown): More {
  more.set(group, (more.get(group) ?? new Map<string, unknown>()).set(name, value));
  return more;
}

/** Spelled out, since this runs for each section of each step. */
function countExtras(section: SectionRecord): number {
  return (
    Number(section.device_ms !== undefined) +
    Number(section.sync_ms !== undefined) +
    Number(section.gc_ms !== undefined) +
    Number(section.stall_ms !== undefined) +
    Number(section.kernels !== undefined) +
    Number(section.new_bytes !== undefined) +
    Number(section.new_shapes !== undefined) +
    Number(section.tensors !== undefined) +
    Number(section.tokens !== undefined) +
    Number(section.flops !== undefined) +
    Number(section.bytes !== undefined) +
    Number(section.reason !== undefined)
  );
}
