import { checkInteger } from "./checkArgument.ts";

/** Keeps what was built last for each key. */
export interface MaskCache<T> {
  /** What is kept under `key`, or else what `build` gives, kept from now on. */
  get(key: string, build: () => T): T;
}

/** The bound of a cache. */
export interface MaskCacheOptions {
  /** How many entries are kept; the one not asked for the longest goes first. */
  readonly capacity: number;
}

/**
 * A bounded cache for masks (or row ranges) that depend on few lengths and come again, as the causal mask of each length bucket does: the key
 * is the caller's, and names all that the mask depends on. Not worth it for DFlash masks in training, whose anchors are redrawn for each batch.
 */
export function createMaskCache<T>({ capacity }: MaskCacheOptions): MaskCache<T> {
  checkInteger("capacity", capacity, 1);
  const kept = new Map<string, { readonly value: T }>(); // in the order of use, the latest last
  return {
    get(key, build) {
      const entry = kept.get(key) ?? { value: build() };
      kept.delete(key);
      kept.set(key, entry);
      if (kept.size > capacity) kept.delete(kept.keys().next().value!);
      return entry.value;
    },
  };
}
