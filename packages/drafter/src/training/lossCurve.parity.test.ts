import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Engine, startEngine } from "@dflash/engine";
import { createOps, type Ops } from "@dflash/ops";
import { openSafetensors } from "@dflash/safetensors";
import type { TargetHead } from "@dflash/target-forward";
import { createTimer } from "@dflash/timer";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseDrafterConfig } from "../config/parseDrafterConfig.ts";
import type { Loss } from "../loss/loss.ts";
import { createDrafter } from "../model/createDrafter.ts";
import { adamW } from "../optimizer/adamW.ts";
import { clipByGlobalNorm } from "../optimizer/clipByGlobalNorm.ts";
import { warmupCosine } from "../optimizer/schedule.ts";
import { trainOn } from "../tinyDrafter.test-support.ts";
import type { TrainBatch } from "./trainBatch.ts";
import { createTrainStep } from "./trainStep.ts";

/** What tools/parity/loss_curve.py trained in PyTorch. */
const folder = fileURLToPath(new URL("../../../../tools/parity", import.meta.url));
const about: {
  config: unknown;
  steps: number;
  prompt: number;
  peak: number;
  warmup_steps: number;
  clip: number;
  gamma: number;
  alpha: number;
  losses: Record<"decay" | "d-pace", number[]>;
} = JSON.parse(readFileSync(`${folder}/loss-curve.json`, "utf8"));
const config = parseDrafterConfig(about.config, "loss-curve.json");
const { hiddenSize, vocabSize, maskTokenId } = config;
const width = config.targetLayerIds.length * hiddenSize;

let engine: Engine;
let ops: Ops;
let head: TargetHead;
let values: Map<string, Float32Array>;
let texts: { ids: Int32Array; rows: number; length: number }[];
beforeAll(async () => {
  engine = await startEngine("wasm", { threads: 1 });
  ops = createOps(engine);
  const file = await openSafetensors(`${folder}/loss-curve.safetensors`);
  values = new Map();
  for (const [name, { dtype }] of file.tensors) if (dtype === "F32") values.set(name, await file.readFloat32(name));
  const [batches = 0, rows = 0, length = 0] = file.tensors.get("input_ids")!.shape;
  const ids = await file.readInt32("input_ids");
  await file.close();
  texts = Array.from({ length: batches }, (_, i) => ({
    ids: ids.slice(i * rows * length, (i + 1) * rows * length),
    rows,
    length,
  }));
  const upload = (name: string) => ops.upload(values.get(name)!, [vocabSize, hiddenSize], { frozen: true });
  const [embedTokens, lmHead] = [upload("embed_tokens.weight"), upload("lm_head.weight")];
  head = {
    vocabSize,
    hiddenSize,
    embedTokens,
    lmHead,
    finalNorm: ops.zeros([hiddenSize]),
    normEpsilon: 1e-6,
    dispose: () => undefined,
  };
});
afterAll(() => engine.dispose());

const weights = (name: string): Float32Array => values.get(`weights/${name}`)!;

/** Batch of a step, its features those of each token and of the one before it. */
function batchOf(step: number): TrainBatch {
  const { ids, rows, length } = texts[step % texts.length]!;
  const tables = values.get("tables")!;
  const features = new Float32Array(ids.length * width);
  for (const [token, id] of ids.entries()) {
    const before = token % length === 0 ? maskTokenId : ids[token - 1]!;
    for (let i = 0; i < width; i++) {
      features[token * width + i] = tables[id * width + i]! + tables[(vocabSize + before) * width + i]!;
    }
  }
  const tensor = ops.upload(features, [ids.length, width]);
  return {
    index: step,
    ids,
    lossMask: Uint8Array.from(ids, (_, token) => Number(token % length >= about.prompt)),
    rowStarts: Int32Array.from({ length: rows + 1 }, (_, row) => row * length),
    features: tensor,
    last: null,
    dispose: () => tensor.dispose(),
  };
}

test.each<Loss>([
  { type: "decay", gamma: about.gamma },
  { type: "d-pace", alpha: about.alpha },
])("steps have the losses that PyTorch's have, by $type", async (loss) => {
  const timer = createTimer();
  const drafter = await createDrafter({ ops, config, weights, timer });
  const { steps, peak, clip: maxNorm } = about;
  const learningRate = warmupCosine({ peak, steps, warmupRatio: about.warmup_steps / steps });
  const optimizer = [clipByGlobalNorm({ ops, maxNorm }), adamW({ ops, learningRate })];
  // As many anchors as there are places for one: none are drawn.
  const step = createTrainStep({ drafter, head, ops, timer, optimizer, loss, anchorsPerRow: 1000, seed: 0 });
  const differences: number[] = [];
  const compared = loss.type === "decay" || process.env["DFLASH_LONG"] === "1" ? steps : 60;
  for (const [i, expected] of about.losses[loss.type as "decay"].slice(0, compared).entries()) {
    const batch = batchOf(i);
    const { loss: got } = await trainOn(step, batch);
    batch.dispose();
    differences.push(Math.abs(got! / expected - 1));
  }
  expect(differences).toHaveLength(compared);
  expect(Math.max(...differences)).toBeLessThan(0.01);
  for (const part of [drafter, step]) part.dispose();
});
