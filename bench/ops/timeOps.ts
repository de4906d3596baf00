import type { Engine } from "@dflash/engine";
import { createOps, type Ops } from "@dflash/ops";
import { summarize, type Times } from "./measure.ts";
import { opCases } from "./opCases.ts";

/** An op in both forms, timed in turn on one engine. */
export interface OpTimes {
  readonly name: string;
  readonly fused: Times;
  readonly composed: Times;
}

/** Times every op fused and composed for about `ms` each. */
export async function timeOps(engine: Engine, ms: number): Promise<OpTimes[]> {
  const forms = { fused: createOps(engine), composed: createOps(engine, { fused: false }) };
  const results: OpTimes[] = [];
  for (const { name, shapes, run } of opCases) {
    const once = async (ops: Ops): Promise<number> => {
      const inputs = shapes.map((shape) => ops.upload(values(shape), shape));
      // A GPU copies them in its own time.
      await engine.sync();
      const start = performance.now();
      run(ops, inputs);
      await engine.sync();
      const time = performance.now() - start;
      for (const tensor of inputs) tensor.dispose();
      return time;
    };
    const times = { fused: [] as number[], composed: [] as number[] };
    await once(forms.fused);
    await once(forms.composed);
    for (const end = performance.now() + ms; performance.now() < end || times.composed.length < 3;) {
      // As many of the fast form as take the time of the slow one, at most ten.
      const composed = await once(forms.composed);
      times.composed.push(composed);
      for (let i = 0, spent = 0; i < 10 && spent < composed; i++) {
        const fused = await once(forms.fused);
        times.fused.push(fused);
        spent += fused;
      }
    }
    results.push({ name, fused: summarize(times.fused), composed: summarize(times.composed) });
  }
  return results;
}

function values(shape: readonly number[]): Float32Array {
  const size = shape.reduce((product, extent) => product * extent, 1);
  return new Float32Array(size).map((_, i) => ((i * 2_654_435_761) % 2 ** 32) / 2 ** 32 - 0.5);
}
