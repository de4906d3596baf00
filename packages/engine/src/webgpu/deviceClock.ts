/** Time that the device spent on kernels. */
export interface DeviceTime {
  /** `counters.kernels` as it was read last before these kernels were dispatched. */
  readonly kernels: number;
  /** Their time on the device. */
  readonly ms: number;
}

/**
 * The device's own clock. While it runs, what is dispatched between two readings of `counters.kernels`, which is what a
 * timer does at the boundaries of its sections, is timed as one.
 */
export interface DeviceClock {
  /** Starts it; it stands until then, and costs nothing. */
  readonly start: () => void;
  /** What was dispatched since the last call, once the device has computed it. Null when that was too much to be timed. */
  readonly take: () => Promise<readonly DeviceTime[] | null>;
}

/** The clock with what its engine needs. */
export interface OwnedDeviceClock extends DeviceClock {
  /** Notes that the counters were read. */
  readonly mark: (kernels: number) => void;
  /** Whether the counters were read since the last pass began, so that the next kernel needs a pass of its own. */
  readonly due: () => boolean;
  /** How the next pass is to be timed; undefined when it isn't. */
  readonly pass: () => GPUComputePassTimestampWrites | undefined;
}

/** What the clock needs of the command queue. */
export interface ClockQueue {
  readonly device: GPUDevice;
  /** The encoder of what is submitted next, outside of a pass. */
  readonly encoder: () => GPUCommandEncoder;
  readonly submit: () => void;
}

/** Timestamps that a set can hold; two a pass. */
const capacity = 4096;

/** A clock of timestamp queries, where the device has them. */
export function createDeviceClock({ device, encoder, submit }: ClockQueue): OwnedDeviceClock {
  const bytes = 8 * capacity;
  const set = device.createQuerySet({ type: "timestamp", count: capacity });
  const resolved = device.createBuffer({ size: bytes, usage: GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC });
  let running = false;
  let lastRead = 0;
  let due = false;
  /** Readings of the counters by pass. */
  let passes: number[] = [];
  let overflown = false;

  return {
    start() {
      running = true;
    },
    mark(kernels) {
      lastRead = kernels;
      due = running;
    },
    due: () => due,
    pass() {
      if (!running) return undefined;
      due = false;
      const first = 2 * passes.length;
      if (first >= capacity) {
        overflown = true;
        return undefined;
      }
      passes.push(lastRead);
      return { querySet: set, beginningOfPassWriteIndex: first, endOfPassWriteIndex: first + 1 };
    },
    async take() {
      const [taken, complete] = [passes, !overflown];
      passes = [];
      overflown = false;
      if (taken.length === 0) return complete ? [] : null;
      const staging = device.createBuffer({ size: bytes, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
      const commands = encoder();
      commands.resolveQuerySet(set, 0, 2 * taken.length, resolved, 0);
      commands.copyBufferToBuffer(resolved, 0, staging, 0, 16 * taken.length);
      submit();
      try {
        await staging.mapAsync(GPUMapMode.READ, 0, 16 * taken.length);
        const times = new BigUint64Array(staging.getMappedRange(0, 16 * taken.length));
        const passed = taken.map((kernels, i) => ({ kernels, ms: Number(times[2 * i + 1]! - times[2 * i]!) / 1e6 }));
        return complete ? passed : null;
      } finally {
        staging.destroy();
      }
    },
  };
}
