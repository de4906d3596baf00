import type { KernelHandle, Kernels } from "./kernels.ts";

/** An engine handle and the number of its holders: the tensor that users see, tape entries, and views on it. */
export interface Value<H extends KernelHandle> {
  readonly handle: H;
  holders: number;
  /** The value whose memory this one shares, when it is a view. */
  readonly base: Value<H> | null;
}

/** A value with one holder, the caller. */
export function own<H extends KernelHandle>(handle: H): Value<H> {
  return { handle, holders: 1, base: null };
}

/** A value on the memory of `base`, with one holder. */
export function view<H extends KernelHandle>(handle: H, base: Value<H>): Value<H> {
  return { handle, holders: 1, base: retain(base) };
}

/** Adds a holder. */
export function retain<H extends KernelHandle>(value: Value<H>): Value<H> {
  value.holders++;
  return value;
}

/** Takes a holder away; the last one frees the handle. */
export function release<H extends KernelHandle>(kernels: Kernels<H>, value: Value<H>): void {
  if (--value.holders > 0) return;
  kernels.dispose(value.handle);
  if (value.base !== null) release(kernels, value.base);
}

/** Whether nobody but the one holder sees the value's memory, so that it may change in place. */
export function isExclusive<H extends KernelHandle>(value: Value<H>): boolean {
  return value.holders === 1 && (value.base === null || isExclusive(value.base));
}
