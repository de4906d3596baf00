import { putBytes, putNumber, putText, putTime } from "./lineBytes.ts";
import type { SectionRecord } from "./record.ts";

/** What stands before each value of a section. */
export type SectionKeys = Readonly<Record<keyof SectionRecord, Uint8Array>>;

/** Writes the values that a section has, each behind its key; `text` writes its reason as the format writes text. */
export function putSection(
  b: Uint8Array,
  at: number,
  section: SectionRecord,
  key: SectionKeys,
  text: (value: string) => string,
): number {
  const from = putBytes(b, at, key.ms);
  const to = putTime(b, from, section.ms);
  at = putBytes(b, to, key.self_ms);
  // Most sections have none inside them: the same digits again.
  if (section.self_ms === section.ms) for (let i = from; i < to; i++) b[at++] = b[i]!;
  else at = putTime(b, at, section.self_ms);
  at = putNumber(b, putBytes(b, at, key.n), section.n);
  if (section.device_ms !== undefined) at = putTime(b, putBytes(b, at, key.device_ms), section.device_ms);
  if (section.sync_ms !== undefined) at = putTime(b, putBytes(b, at, key.sync_ms), section.sync_ms);
  if (section.gc_ms !== undefined) at = putTime(b, putBytes(b, at, key.gc_ms), section.gc_ms);
  if (section.stall_ms !== undefined) at = putTime(b, putBytes(b, at, key.stall_ms), section.stall_ms);
  if (section.kernels !== undefined) at = putNumber(b, putBytes(b, at, key.kernels), section.kernels);
  if (section.new_bytes !== undefined) at = putNumber(b, putBytes(b, at, key.new_bytes), section.new_bytes);
  if (section.new_shapes !== undefined) at = putNumber(b, putBytes(b, at, key.new_shapes), section.new_shapes);
  if (section.tensors !== undefined) at = putNumber(b, putBytes(b, at, key.tensors), section.tensors);
  if (section.tokens !== undefined) at = putNumber(b, putBytes(b, at, key.tokens), section.tokens);
  if (section.flops !== undefined) at = putNumber(b, putBytes(b, at, key.flops), section.flops);
  if (section.bytes !== undefined) at = putNumber(b, putBytes(b, at, key.bytes), section.bytes);
  if (section.reason !== undefined) at = putText(b, putBytes(b, at, key.reason), text(section.reason));
  return at;
}
