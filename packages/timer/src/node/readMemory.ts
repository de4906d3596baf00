/** Memory of this process, bytes. */
export interface MemoryUse {
  readonly rssBytes: number;
  readonly heapUsedBytes: number;
  readonly heapTotalBytes: number;
  /** Held by objects outside the heap, array buffers among them. */
  readonly externalBytes: number;
}

/** Reads it; some 3 µs. */
export function readMemory(): MemoryUse {
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
  return { rssBytes: rss, heapUsedBytes: heapUsed, heapTotalBytes: heapTotal, externalBytes: external };
}
