/** Minimum and median, ns. */
export interface Cost {
  readonly min: number;
  readonly median: number;
}

const clock = (): bigint => process.hrtime.bigint();
const CALLS = 500;
const HOT_SAMPLES = 2_000;
const COLD_SAMPLES = 500;
/** 8 MiB, swept before every cold call. */
const memory = new Float64Array(1 << 20);

/** Time of one call in a loop: samples of 500 calls after as many to warm up, so that the minimum holds no interruption. */
export function hot(call: (times: number) => void, calls = CALLS): Cost {
  for (let i = 0; i < HOT_SAMPLES / 4; i += 1) call(calls);
  return cost(
    Array.from({ length: HOT_SAMPLES }, () => {
      const before = clock();
      call(calls);
      return Number(clock() - before) / calls;
    }),
  );
}

/** Time of one call after 8 MiB of other memory were touched, less that of an empty one. */
export function cold(call: () => void): Cost {
  const empty = coldOf(() => {});
  const { min, median } = coldOf(call);
  return { min: min - empty.min, median: median - empty.median };
}

function coldOf(call: () => void): Cost {
  for (let i = 0; i < 2_000; i += 1) call();
  return cost(
    Array.from({ length: COLD_SAMPLES }, () => {
      for (let i = 0; i < memory.length; i += 8) memory[i]! += 1;
      const before = clock();
      call();
      return Number(clock() - before);
    }),
  );
}

function cost(samples: number[]): Cost {
  const sorted = samples.toSorted((a, b) => a - b);
  return { min: sorted[0]!, median: sorted[sorted.length >> 1]! };
}
