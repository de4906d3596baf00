/** Buffers on the GPU, used over and over; the interface is that of tfjs's own buffer manager, whose place it takes. */
export interface BufferPool {
  acquireBuffer(size: number, usage: number, mappedAtCreation?: boolean): GPUBuffer;
  releaseBuffer(buffer: GPUBuffer): void;
  dispose(): void;
  readonly numBytesUsed: number;
  /** Those in use and those kept. */
  readonly numBytesAllocated: number;
}

/** Never less than this is kept. */
const leastKept = 2 ** 26;

const smallest = 64;

/**
 * tfjs keeps every buffer that it ever made and uses it only for the same size again; where each step has other shapes, that
 * grows without end. Here sizes come in four classes an octave, and no more is kept than was ever in use at once.
 * Throws an Error of one line on a buffer that is larger than the device allows.
 */
export function createBufferPool(device: GPUDevice): BufferPool {
  /** By class and usage, the least recently used first. */
  const free = new Map<string, GPUBuffer[]>();
  const live = new Set<GPUBuffer>();
  const largest = Math.min(device.limits.maxBufferSize, device.limits.maxStorageBufferBindingSize);
  let used = 0;
  let kept = 0;
  let mostUsed = leastKept;

  /** Destroys what has been free for longest until no more is kept than may be. */
  const trim = (): void => {
    for (const [key, buffers] of free) {
      while (kept > mostUsed && buffers.length > 0) {
        const buffer = buffers.pop()!;
        kept -= buffer.size;
        buffer.destroy();
      }
      if (buffers.length === 0) free.delete(key);
      if (kept <= mostUsed) return;
    }
  };

  return {
    acquireBuffer(size, usage, mappedAtCreation = false) {
      if (size > largest) {
        throw new Error(
          `webgpu: out of memory: a tensor of ${mebibytes(size)} MiB, and this GPU allows ${mebibytes(largest)} in one; ` +
            "use fewer tokens a batch or a smaller model",
        );
      }
      const extent = sizeClass(size);
      // A recycled buffer is not mapped.
      const buffer = (mappedAtCreation ? undefined : free.get(`${extent} ${usage}`)?.pop()) ?? null;
      if (buffer !== null) kept -= buffer.size;
      const acquired = buffer ?? device.createBuffer({ size: Math.min(extent, largest), usage, mappedAtCreation });
      live.add(acquired);
      used += acquired.size;
      mostUsed = Math.max(mostUsed, used);
      return acquired;
    },
    releaseBuffer(buffer) {
      if (!live.delete(buffer)) return;
      used -= buffer.size;
      kept += buffer.size;
      const key = `${sizeClass(buffer.size)} ${buffer.usage}`;
      const buffers = free.get(key) ?? [];
      buffers.push(buffer);
      free.delete(key);
      free.set(key, buffers);
      if (kept > mostUsed) trim();
    },
    dispose() {
      for (const buffer of [...live, ...[...free.values()].flat()]) buffer.destroy();
      live.clear();
      free.clear();
      used = 0;
      kept = 0;
    },
    get numBytesUsed() {
      return used;
    },
    get numBytesAllocated() {
      return used + kept;
    },
  };
}

const mebibytes = (bytes: number): string => Math.ceil(bytes / 2 ** 20).toLocaleString("en");

/** The least of 5, 6, 7 and 8 times a power of two that is enough. */
function sizeClass(bytes: number): number {
  if (bytes <= smallest) return smallest;
  const step = 2 ** (Math.ceil(Math.log2(bytes)) - 3);
  return Math.ceil(bytes / step) * step;
}
