import type { Engine } from "@dflash/engine";
import { createOps, type Ops, type Tensor } from "@dflash/ops";
import { summarize, type Times } from "./measure.ts";

/** An op on so few numbers that its time is the cost of calling it. */
export interface DispatchTimes {
  readonly name: string;
  /** µs of this thread a call, the result's release included. */
  readonly call: Times;
  /** Kernels that a call dispatches. */
  readonly kernels: number;
}

const calls: readonly { name: string; run: (ops: Ops, x: Tensor, weight: Tensor) => Tensor }[] = [
  { name: "add", run: (ops, x) => ops.add(x, x) },
  { name: "linear", run: (ops, x) => ops.linear(x, x) },
  { name: "rmsNorm", run: (ops, x, weight) => ops.rmsNorm(x, weight, 1e-6) },
];

/** Times each call in `rounds` rounds of 500, after a tenth as many to warm up. */
export async function timeDispatches(engine: Engine, rounds: number): Promise<DispatchTimes[]> {
  const ops = createOps(engine);
  const x = ops.upload(Float32Array.of(1, 2, 3, 4), [1, 4]);
  const weight = ops.upload(Float32Array.of(1, 1, 1, 1), [4]);
  const results: DispatchTimes[] = [];
  for (const { name, run } of calls) {
    const times: number[] = [];
    const count = 500;
    let kernels = 0;
    for (let round = -Math.ceil(rounds / 10); round < rounds; round++) {
      const before = engine.counters.kernels;
      const start = performance.now();
      for (let i = 0; i < count; i++) run(ops, x, weight).dispose();
      const time = performance.now() - start;
      kernels = (engine.counters.kernels - before) / count;
      await engine.sync();
      if (round >= 0) times.push((1000 * time) / count);
    }
    results.push({ name, call: summarize(times), kernels });
  }
  for (const tensor of [x, weight]) tensor.dispose();
  return results;
}
