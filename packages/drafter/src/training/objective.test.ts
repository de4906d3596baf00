import { type Engine, startEngine } from "@dflash/engine";
import { createOps, type Ops, type Tensor } from "@dflash/ops";
import type { PackedHiddenStates, TargetHead } from "@dflash/target-forward";
import { createTimer } from "@dflash/timer";
import { afterAll, beforeAll, expect, test } from "vitest";
import { blockTargets } from "../blocks/blockTargets.ts";
import { createAnchorSampler } from "../blocks/createAnchorSampler.ts";
import type { Loss } from "../loss/loss.ts";
import type { DFlashDrafter } from "../model/createDrafter.ts";
import { parameterShapes } from "../model/parameterShapes.ts";
import { randomWeights, type WeightSource } from "../model/randomWeights.ts";
import { tinyBatch, tinyConfig, tinyDrafter, tinyHead } from "../tinyDrafter.test-support.ts";
import { createObjective, type HeadChunk } from "./objective.ts";
import type { TrainBatch } from "./trainBatch.ts";

let engine: Engine;
let ops: Ops;
let head: TargetHead;
beforeAll(async () => {
  engine = await startEngine("wasm", { threads: 1 });
  ops = createOps(engine);
  head = await tinyHead(ops);
});
afterAll(() => engine.dispose());

const { blockSize, hiddenSize } = tinyConfig;
const decay: Loss = { type: "decay", gamma: 2 };

interface Evaluated {
  /** Sum and gradients as they come, not yet divided. */
  readonly loss: number;
  readonly gradients: Float32Array[];
  readonly divisor: number;
  readonly rowLosses: number[];
}

/** Loss and gradients of a drafter on the anchors of a batch. */
async function evaluate(
  drafter: DFlashDrafter,
  batch: TrainBatch,
  { loss = decay, headChunk, anchorsPerRow = 3 }: { loss?: Loss; headChunk?: HeadChunk; anchorsPerRow?: number } = {},
): Promise<Evaluated> {
  const blocks = createAnchorSampler({ blockSize, anchorsPerRow, seed: 1 })(batch);
  const timer = createTimer();
  const objective = createObjective({ drafter, head, ops, timer, loss, ...(headChunk && { headChunk }) });
  const evaluation = await objective(batch, blocks, blockTargets(blocks, batch, blockSize));
  const gradients = await Promise.all(
    evaluation.gradients.map(async (tensor) => Float32Array.from(await tensor.read())),
  );
  for (const tensor of evaluation.gradients) tensor.dispose();
  return { ...evaluation, gradients, rowLosses: [...evaluation.rowLosses] };
}

/** The largest relative difference of losses, divisors and, by norm, gradients. */
function difference(a: Evaluated, b: Evaluated): number {
  const gradients = a.gradients.map((gradient, i) => {
    const other = b.gradients[i]!;
    return Math.hypot(...gradient.map((value, at) => value - other[at]!)) / Math.hypot(...gradient);
  });
  return Math.max(Math.abs(a.loss / b.loss - 1), Math.abs(a.divisor / b.divisor - 1), ...gradients);
}

/** Random values as the target's last hidden states. */
async function withLast(batch: PackedHiddenStates): Promise<TrainBatch & { last: Tensor }> {
  const shape = [batch.ids.length, hiddenSize];
  const last = ops.upload(await randomWeights(4, 1)("last", shape), shape);
  return { ...batch, last, dispose: () => [batch, last].forEach((part) => part.dispose()) };
}

const weights = randomWeights(1, 0.2);

/** The loss's slope along a direction of some parameters, and what the gradients say of it. */
async function slopes(
  batch: TrainBatch,
  moves: (name: string) => boolean,
  loss: Loss,
): Promise<{ measured: number; predicted: number; norm: number }> {
  const base = await tinyDrafter(ops, { weights });
  const { gradients } = await evaluate(base, batch, { loss });
  base.dispose();
  const names = [...parameterShapes(tinyConfig).keys()];
  const directions = await Promise.all(
    gradients.map(async (gradient, i) =>
      moves(names[i]!) ? randomWeights(9, 1)(names[i]!, [gradient.length, 1]) : new Float32Array(gradient.length),
    ),
  );
  const lossAt = async (distance: number): Promise<number> => {
    const moved: WeightSource = async (name, shape) => {
      const values = await weights(name, shape);
      return values.map((value, i) => value + distance * directions[names.indexOf(name)]![i]!);
    };
    const drafter = await tinyDrafter(ops, { weights: moved });
    const evaluated = await evaluate(drafter, batch, { loss });
    drafter.dispose();
    return evaluated.loss;
  };
  const unit = 0.01 / Math.hypot(...directions.map((values) => Math.hypot(...values)));
  // Richardson's step from two central differences leaves an error of the fourth order.
  const slope = async (h: number): Promise<number> => ((await lossAt(h)) - (await lossAt(-h))) / (2 * h);
  const measured = (4 * (await slope(unit * 4)) - (await slope(unit * 8))) / 3;
  const moving = gradients.filter((_, i) => moves(names[i]!));
  const predicted = gradients.reduce(
    (sum, gradient, i) => sum + gradient.reduce((part, value, at) => part + value * directions[i]![at]!, 0),
    0,
  );
  return { measured, predicted, norm: Math.hypot(...moving.map((gradient) => Math.hypot(...gradient))) };
}

test.each([...parameterShapes(tinyConfig).keys()])(
  "the gradient of %s is what the loss does when it moves",
  async (name) => {
    const batch = await tinyBatch(ops);
    const { measured, predicted, norm } = await slopes(batch, (other) => other === name, decay);
    expect(Math.abs(measured - predicted)).toBeLessThan(0.01 * norm);
    expect(norm).toBeGreaterThan(0);
    batch.dispose();
  },
);

test("the gradient of the soft-target loss is what the loss does when everything moves", async () => {
  const batch = await withLast(await tinyBatch(ops));
  const { measured, predicted, norm } = await slopes(batch, () => true, { type: "soft-target", gamma: 2 });
  expect(Math.abs(measured - predicted)).toBeLessThan(0.01 * norm);
  batch.dispose();
});

test("a teacher that puts everything on the text is the text", async () => {
  const [batch, drafter] = [await tinyBatch(ops), await tinyDrafter(ops, { weights })];
  const before = head;
  // Of unit rows none is nearer to one than itself; far out along it, its word has all probability.
  const drawn = await randomWeights(6, 1)("head", [tinyConfig.vocabSize, hiddenSize]);
  const rowOf = (word: number): Float32Array => drawn.subarray(word * hiddenSize, (word + 1) * hiddenSize);
  const unit = drawn.map((value, i) => value / Math.hypot(...rowOf(Math.floor(i / hiddenSize))));
  const next = Array.from(batch.ids, (_, token) => [...rowOf(batch.ids[token + 1] ?? 0)]);
  const last = ops.upload(Float32Array.from(next.flat()), [batch.ids.length, hiddenSize]);
  const lmHead = ops.upload(unit, [tinyConfig.vocabSize, hiddenSize]);
  const finalNorm = ops.upload(new Float32Array(hiddenSize).fill(1000), [hiddenSize]);
  head = { ...before, lmHead, finalNorm };
  const soft = await evaluate(drafter, { ...batch, last }, { loss: { type: "soft-target", gamma: 2 } });
  expect(difference(soft, await evaluate(drafter, batch))).toBeLessThan(1e-5);
  for (const part of [batch, drafter, last, lmHead, finalNorm]) part.dispose();
  head = before;
});

test("the teacher is normed with the target's own epsilon", async () => {
  const [batch, drafter] = [await withLast(await tinyBatch(ops)), await tinyDrafter(ops, { weights })];
  const before = head;
  // Rows of mean square 1 come out of a norm with ε = 3 half as large.
  const values = await batch.last.read();
  const rowNorm = (row: number): number => Math.hypot(...values.subarray(row * hiddenSize, (row + 1) * hiddenSize));
  const unit = values.map((value, i) => (value * Math.sqrt(hiddenSize)) / rowNorm(Math.floor(i / hiddenSize)));
  const last = ops.upload(unit, batch.last.shape);
  const finalNorm = ops.upload(new Float32Array(hiddenSize).fill(0.5), [hiddenSize]);
  const soft = async (): Promise<Evaluated> => evaluate(drafter, { ...batch, last }, { loss: { type: "soft-target" } });
  head = { ...before, normEpsilon: 3 };
  const wide = await soft();
  head = { ...before, finalNorm, normEpsilon: 1e-9 };
  expect(difference(await soft(), wide)).toBeLessThan(1e-5);
  head = before;
  expect(difference(await soft(), wide)).toBeGreaterThan(1e-3);
  for (const part of [batch, drafter, last, finalNorm]) part.dispose();
});

test("without last hidden states there are no soft targets", async () => {
  const tensors = engine.memory().tensors;
  const [batch, drafter] = [await tinyBatch(ops), await tinyDrafter(ops)];
  await expect(evaluate(drafter, batch, { loss: { type: "soft-target" } })).rejects.toThrow(
    "soft-target loss: the batch has no last hidden states, expected them; capture the last layer too",
  );
  for (const part of [batch, drafter]) part.dispose();
  expect(engine.memory().tensors).toBe(tensors);
});

test("D-PACE is the cross-entropy of every slot under its own weight", async () => {
  const drafter = await tinyDrafter(ops, { weights });
  const batch = await tinyBatch(ops, { lengths: [12, 12], supervised: (position) => position > 2 && position < 7 });
  const plain = await evaluate(drafter, batch, { loss: { type: "decay", gamma: null } });
  const paced = await evaluate(drafter, batch, { loss: { type: "d-pace", alpha: 1 } });
  expect(paced.rowLosses).toEqual(plain.rowLosses);
  expect(paced.divisor).toBe(2);
  // α = 1 weighs a slot by the supervised ones from it on; anchors 3, 4 and 5 of each row have three, two and one.
  const slots = [3, 2, 1, 2, 1, 1, 3, 2, 1, 2, 1, 1];
  expect(plain.rowLosses).toHaveLength(slots.length);
  expect(paced.loss).toBeCloseTo(
    plain.rowLosses.reduce((sum, loss, row) => sum + loss * slots[row]!, 0),
    4,
  );
  for (const part of [batch, drafter]) part.dispose();
});

test("chunks of rows and of the vocabulary change nothing", async () => {
  const [batch, drafter] = [await tinyBatch(ops), await tinyDrafter(ops, { weights })];
  const whole = await evaluate(drafter, batch);
  for (const headChunk of [{ chunkRows: 1 }, { chunkRows: 5, chunkVocabulary: 7 }, { chunkVocabulary: 39 }])
    expect(difference(await evaluate(drafter, batch, { headChunk }), whole)).toBeLessThan(1e-5);
  for (const part of [batch, drafter]) part.dispose();
});

test("features split by layer give what joined ones give", async () => {
  const [batch, drafter] = [await tinyBatch(ops), await tinyDrafter(ops, { weights })];
  const joined = await batch.features.read();
  const tokens = batch.ids.length;
  const layers = tinyConfig.targetLayerIds.map((_, layer): Tensor => {
    const values = new Float32Array(tokens * hiddenSize);
    for (let token = 0; token < tokens; token++) {
      const from = (token * tinyConfig.targetLayerIds.length + layer) * hiddenSize;
      values.set(joined.subarray(from, from + hiddenSize), token * hiddenSize);
    }
    return ops.upload(values, [tokens, hiddenSize]);
  });
  const split = await evaluate(drafter, { ...batch, features: layers });
  expect(difference(split, await evaluate(drafter, batch))).toBeLessThan(1e-5);
  await expect(evaluate(drafter, { ...batch, features: layers.slice(1) })).rejects.toThrow(
    "drafter: the features are of 2 target layers, expected 3",
  );
  for (const part of [batch, drafter, ...layers]) part.dispose();
});

test.each<[string, Loss]>([
  ["decay", decay],
  ["D-PACE", { type: "d-pace" }],
])("rows computed apart add up to the batch, by %s", async (_, loss) => {
  const drafter = await tinyDrafter(ops, { weights });
  // Three pairs a row and three anchors: a row alone gets the same ones.
  const batch = await tinyBatch(ops, { lengths: [12, 12], supervised: (position) => position > 2 && position < 7 });
  const parts = await Promise.all(
    [0, 12].map(async (start) => {
      const end = start + 12;
      const features = ops.slice(batch.features, start, end);
      const rows = {
        ids: batch.ids.slice(start, end),
        lossMask: batch.lossMask.slice(start, end),
        rowStarts: Int32Array.of(0, 12),
      };
      const part = await evaluate(drafter, { ...batch, ...rows, features }, { loss });
      features.dispose();
      return part;
    }),
  );
  const [first, second] = [parts[0]!, parts[1]!];
  const sum = {
    loss: first.loss + second.loss,
    divisor: first.divisor + second.divisor,
    gradients: first.gradients.map((gradient, i) => gradient.map((value, at) => value + second.gradients[i]![at]!)),
    rowLosses: [],
  };
  expect(difference(await evaluate(drafter, batch, { loss }), sum)).toBeLessThan(1e-5);
  for (const part of [drafter, batch]) part.dispose();
});

test("a head that knows nothing costs ln V a token, whatever the weights", async () => {
  const drafter = await tinyDrafter(ops, { weights });
  const batch = await tinyBatch(ops);
  const { lmHead } = head;
  head = { ...head, lmHead: ops.zeros(lmHead.shape) };
  const { loss, divisor } = await evaluate(drafter, batch);
  expect(loss / divisor).toBeCloseTo(Math.log(tinyConfig.vocabSize), 5);
  for (const part of [drafter, batch, head.lmHead]) part.dispose();
  head = { ...head, lmHead };
});

test("leaves no tensor but the gradients", async () => {
  const tensors = engine.memory().tensors;
  const drafter = await tinyDrafter(ops, { weights });
  const batch = await withLast(await tinyBatch(ops));
  for (const loss of [decay, { type: "d-pace" }, { type: "soft-target" }] as const)
    await evaluate(drafter, batch, { loss });
  for (const part of [drafter, batch]) part.dispose();
  expect(engine.memory().tensors).toBe(tensors);
});
