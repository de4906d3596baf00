// Trains a drafter for a target model that nobody published: node trainOnRule.ts [steps]
import {
  adamW,
  clipByGlobalNorm,
  createDrafter,
  createDrafterConfig,
  createTrainStep,
  randomWeights,
  targetLayerIds,
  trainDrafter,
  warmupCosine,
} from "@dflash/drafter";
import { startEngine } from "@dflash/engine";
import { createOps } from "@dflash/ops";
import { createTargetForwardLoop, type TokenBatch } from "@dflash/target-forward";
import { createTimer } from "@dflash/timer";
import { createRuleTarget, hiddenSize, layers, next, vocabSize } from "./ruleTarget.ts";

const steps = Number(process.argv[2] ?? 100);
const engine = await startEngine("wasm");
const ops = createOps(engine);
const timer = createTimer();
const { model, head } = createRuleTarget(ops);

// Four texts of 40 tokens each, all of them supervised.
async function* batches(): AsyncGenerator<TokenBatch> {
  for (let index = 0; ; index++) {
    const ids = new Int32Array(160);
    for (let i = 0; i < ids.length; i++) ids[i] = i % 40 === 0 ? (7 * index + i) % (vocabSize - 1) : next(ids[i - 1]!);
    yield { index, ids, lossMask: new Uint8Array(160).fill(1), rowStarts: Int32Array.of(0, 40, 80, 120, 160) };
  }
}

const size = { intermediateSize: 128, heads: 4, kvHeads: 2, headDim: 16, maxPositions: 64 };
const config = createDrafterConfig({
  target: { layers, hiddenSize, vocabSize, ...size, epsilon: 1e-6, ropeTheta: 10_000 },
  layers: 1,
  blockSize: 4,
  targetLayerIds: targetLayerIds(layers, 1),
  maskTokenId: vocabSize - 1,
});
const drafter = await createDrafter({ ops, config, timer, weights: randomWeights(1, config.initializerRange) });
const optimizer = [clipByGlobalNorm({ ops }), adamW({ ops, learningRate: warmupCosine({ peak: 1e-2, steps }) })];
const step = createTrainStep({ drafter, head, ops, timer, optimizer, anchorsPerRow: 8, seed: 1 });
const layerIds = config.targetLayerIds;
const source = createTargetForwardLoop({ model, ops, timer, batches: batches(), layerIds });

const training = trainDrafter({ source, step, steps, timer });
training.on("step", ({ updates, loss, rates }) => {
  if (updates % 10 !== 0) return;
  console.log(
    `step ${updates}  loss ${loss?.toFixed(3)}  acceptance length ${rates?.acceptanceLength?.toFixed(2)} of 4`,
  );
});
await training.finished;

step.dispose();
drafter.dispose();
model.dispose();
engine.dispose();
