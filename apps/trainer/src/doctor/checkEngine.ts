import { type EngineName, type Engine, startEngine } from "@dflash/engine";
import { createOps, createRotaryTables, measurePeakFlops, type Ops, rotaryWavelengths } from "@dflash/ops";

/** What an engine does on this machine. */
export interface EngineCheck {
  /** One line, without the engine's name: how it runs, or what it lacks and the remedy. */
  readonly line: string;
  /** Null when it does not start. */
  readonly working: {
    readonly deterministic: boolean;
    /** Whether its device is a program on the CPU, so that it is used only by name. */
    readonly emulated: boolean;
    /** Floating-point operations a second in products. */
    readonly flops: number;
    /** Largest difference between the fused and the composed form's loss and gradients, relative to their largest value. */
    readonly difference: number;
    /** Kernels that are composed although others are fused. */
    readonly composed: readonly string[];
    readonly fused: number;
    /** Resident memory of the process afterwards. */
    readonly bytes: number;
  } | null;
}

/** Starts an engine, measures a product, and compares a small network's loss and gradients in both forms. */
export async function checkEngine(name: EngineName): Promise<EngineCheck> {
  let engine: Engine;
  try {
    engine = await startEngine(name, { resolveFrom: import.meta.dirname });
  } catch (error) {
    return { line: withoutName(error instanceof Error ? error.message : String(error)), working: null };
  }
  try {
    const ops = createOps(engine);
    const forms = Object.entries(ops.forms);
    const composed = forms.filter(([, form]) => form === "composed").map(([kernel]) => kernel);
    const expected = await lossAndGradients(createOps(engine, { fused: false }));
    const got = await lossAndGradients(ops);
    const differences = got.map((values, i) => relativeDifference(values, expected[i]!));
    return {
      line: withoutName(engine.description),
      working: {
        deterministic: engine.deterministic,
        emulated: engine.emulated,
        flops: await measurePeakFlops(ops),
        difference: Math.max(...differences),
        composed,
        fused: forms.length - composed.length,
        bytes: process.memoryUsage.rss(),
      },
    };
  } finally {
    engine.dispose();
  }
}

const withoutName = (line: string): string => line.replace(/^[a-z-]+: /, "");

/**
 * Loss, then the gradient of each parameter, of one attention layer with a gated MLP and the loss over a vocabulary; the same
 * of soft targets over it.
 */
async function lossAndGradients(ops: Ops): Promise<ArrayLike<number>[]> {
  const [tokens, size, heads, vocabulary] = [24, 16, 2, 40];
  const draw = (rows: number, columns: number, phase: number) =>
    ops.upload(
      Float32Array.from({ length: rows * columns }, (_, i) => 0.3 * Math.sin(i * i + phase)),
      [rows, columns],
    );
  const shapes = [vocabulary, size, size, size, size, 2 * size, 2 * size];
  const weights = [...shapes.map((rows, i) => draw(rows, size, i)), draw(size, 2 * size, 9)];
  const [embedding, query, key, value, output, gate, up, down] = weights;
  const norm = ops.upload(new Float32Array(size).fill(1), [size]);
  const ids = Int32Array.from({ length: tokens }, (_, i) => (7 * i) % vocabulary);
  const shares = new Float32Array(tokens).fill(1 / tokens);
  const positions = Int32Array.from({ length: tokens }, (_, i) => i % 12);
  // Two rows of 12 tokens, each of which sees its row up to itself.
  const bounds = Int32Array.from([...ids.keys()].flatMap((i) => [i - positions[i]!, i + 1, i + 1, i + 1]));
  const ranges = { queryLength: tokens, keyLength: tokens, bounds };
  const frequencies = rotaryWavelengths(10_000, size / heads).map((wavelength) => 1 / wavelength);
  const rotary = createRotaryTables(ops, { frequencies });

  const { outputs, gradients } = ops.valueAndGrad([...weights, norm], () => {
    const x = ops.embedding(embedding!, ids);
    const a = ops.rmsNorm(x, norm, 1e-6);
    const byHead = (weight: typeof x) => ops.reshape(ops.linear(a, weight), [tokens, heads, size / heads]);
    const [q, k] = [query!, key!].map((weight) => ops.rotary(byHead(weight), rotary.covering(12), positions));
    const attended = ops.reshape(ops.attention(q!, k!, byHead(value!), ranges), [tokens, size]);
    const h = ops.add(x, ops.linear(attended, output!));
    const gated = ops.swiglu(ops.linear(h, gate!), ops.linear(h, up!));
    const hidden = ops.add(h, ops.linear(gated, down!));
    return ops.linearCrossEntropy(hidden, embedding!, ids, shares);
  });
  const [student, teacher] = [draw(tokens, size, 10), draw(tokens, size, 11)];
  const soft = ops.valueAndGrad([student], () => ops.linearDistillation(student, teacher, embedding!, shares));
  const compared = [outputs.loss, ...gradients, soft.outputs.loss, ...soft.gradients];
  const results = await Promise.all(compared.map((tensor) => tensor.read()));
  const made = [
    ...Object.values(outputs),
    ...Object.values(soft.outputs),
    ...gradients,
    ...soft.gradients,
    ...weights,
    norm,
    student,
    teacher,
    rotary,
  ];
  for (const part of made) part.dispose();
  return results;
}

function relativeDifference(got: ArrayLike<number>, expected: ArrayLike<number>): number {
  let [largest, difference] = [0, 0];
  for (let i = 0; i < expected.length; i++) {
    largest = Math.max(largest, Math.abs(expected[i]!));
    difference = Math.max(difference, Math.abs(got[i]! - expected[i]!));
  }
  return difference / largest;
}
