// A training loop of one's own, without the trainer: node trainLoop.ts [target folder] [chat file] [steps] [folder to save in]
import { loadCausalLM } from "@dflash/causal-lm";
import { createChatBatches, loadTokenizer } from "@dflash/chat-data";
import {
  adamW,
  clipByGlobalNorm,
  createDrafter,
  createDrafterConfig,
  createTrainStep,
  randomWeights,
  saveDrafter,
  type StepResult,
  targetLayerIds,
} from "@dflash/drafter";
import { startEngine } from "@dflash/engine";
import { attachLog, createStepRecord, type LogEvents, stdoutSink } from "@dflash/log-formatter";
import { createOps } from "@dflash/ops";
import { createTargetForwardLoop } from "@dflash/target-forward";
import { createTimer } from "@dflash/timer";
import { observeCauses } from "@dflash/timer/causes";
import { createJudge } from "@dflash/timer/verdict";
import { EventEmitter } from "eventemitter3";
import arrowFormatter from "./arrowFormatter.ts";

const [targetFolder = "data/tiny-target", chats = "data/gsm8k/train.tiny-target.jsonl", steps = "20", drafterFolder] =
  process.argv.slice(2);

const engine = await startEngine("wasm");
const ops = createOps(engine);
const timer = createTimer({ lane: "drafter" });
observeCauses(timer, engine.counters);

// The frozen target, and the text it is fed.
const target = await loadCausalLM(targetFolder, { ops, timer });
const tokenizer = await loadTokenizer(targetFolder);
const batches = await createChatBatches({ file: chats, tokenizer, batchRows: 2, maxLength: 256, seed: 0 });

// The drafter, and one step of its training.
const config = createDrafterConfig({
  target: { ...target.config, ropeTheta: target.config.rope.theta },
  layers: 1,
  blockSize: 8,
  targetLayerIds: targetLayerIds(target.config.layers, 2),
  maskTokenId: tokenizer.maskTokenId ?? target.config.vocabSize - 1,
});
const drafter = await createDrafter({ ops, config, timer, weights: randomWeights(0, config.initializerRange) });
const optimizer = [clipByGlobalNorm({ ops }), adamW({ ops, learningRate: () => 1e-3 })];
const trainStep = createTrainStep({ drafter, head: target.head, ops, timer, optimizer, anchorsPerRow: 16, seed: 0 });

// What every step writes, and where to.
const run = new EventEmitter<LogEvents>();
const log = attachLog(run, [[arrowFormatter, stdoutSink()]]);
const judge = createJudge(timer);
let result: StepResult | undefined;
timer.on("report", (report) => {
  const metrics = { loss: result?.loss, accuracy: result?.rates?.accuracy };
  run.emit("step", createStepRecord(report, { metrics, verdict: judge.verdict() }));
});

const layerIds = config.targetLayerIds;
const loop = createTargetForwardLoop({ model: target, ops, timer, batches, layerIds });
const hiddenStates = loop[Symbol.asyncIterator]();
for (let step = 0; step < Number(steps); step++) {
  await timer.step(async () => {
    const packed = await hiddenStates.next();
    if (packed.done) throw new Error("the batches have come to an end");
    await trainStep.accumulate(packed.value);
    packed.value.dispose();
    result = await trainStep.update();
  });
}
await hiddenStates.return?.();

if (drafterFolder !== undefined) await saveDrafter(drafterFolder, drafter);
await log.close();
trainStep.dispose();
drafter.dispose();
target.dispose();
await batches.close();
engine.dispose();
