import { type LineBuffer, type Prepared, put, putAgain, putNumber, putText, putTime } from "./lineBytes.ts";
import type { SectionRecord } from "./record.ts";

/** What stands before each value of a section. */
export type SectionKeys = Readonly<Record<keyof SectionRecord, Prepared>>;

/** Writes the values that a section has, each behind its key; `text` writes its reason as the format writes text. */
export function putSection(
  b: LineBuffer,
  at: number,
  section: SectionRecord,
  key: SectionKeys,
  text: (value: string) => string,
): number {
  const from = put(b, at, key.ms);
  const to = putTime(b, from, section.ms);
  at = put(b, to, key.self_ms);
  // As in every section without children.
  at = section.self_ms === section.ms ? putAgain(b, at, from, to) : putTime(b, at, section.self_ms);
  at = putNumber(b, put(b, at, key.n), section.n);
  return hasExtras(section) ? putExtras(b, at, section, key, text) : at;
}

/** Whether there is more than the times and the count. */
export function hasExtras(section: SectionRecord): boolean {
  return (
    section.device_ms !== undefined ||
    section.sync_ms !== undefined ||
    section.gc_ms !== undefined ||
    section.stall_ms !== undefined ||
    section.kernels !== undefined ||
    section.new_bytes !== undefined ||
    section.new_shapes !== undefined ||
    section.tensors !== undefined ||
    section.tokens !== undefined ||
    section.flops !== undefined ||
    section.bytes !== undefined ||
    section.reason !== undefined
  );
}

/** Writes what a section has besides its times and its count. */
export function putExtras(
  b: LineBuffer,
  at: number,
  section: SectionRecord,
  key: Omit<SectionKeys, "ms">,
  text: (value: string) => string,
): number {
  if (section.device_ms !== undefined) at = putTime(b, put(b, at, key.device_ms), section.device_ms);
  if (section.sync_ms !== undefined) at = putTime(b, put(b, at, key.sync_ms), section.sync_ms);
  if (section.gc_ms !== undefined) at = putTime(b, put(b, at, key.gc_ms), section.gc_ms);
  if (section.stall_ms !== undefined) at = putTime(b, put(b, at, key.stall_ms), section.stall_ms);
  if (section.kernels !== undefined) at = putNumber(b, put(b, at, key.kernels), section.kernels);
  if (section.new_bytes !== undefined) at = putNumber(b, put(b, at, key.new_bytes), section.new_bytes);
  if (section.new_shapes !== undefined) at = putNumber(b, put(b, at, key.new_shapes), section.new_shapes);
  if (section.tensors !== undefined) at = putNumber(b, put(b, at, key.tensors), section.tensors);
  if (section.tokens !== undefined) at = putNumber(b, put(b, at, key.tokens), section.tokens);
  if (section.flops !== undefined) at = putNumber(b, put(b, at, key.flops), section.flops);
  if (section.bytes !== undefined) at = putNumber(b, put(b, at, key.bytes), section.bytes);
  if (section.reason !== undefined) at = putText(b, put(b, at, key.reason), text(section.reason));
  return at;
}
