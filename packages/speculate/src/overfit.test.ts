import { Readable } from "node:stream";
import { loadTokenizer, openChatFile } from "@dflash/chat-data";
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
import { expect, test } from "vitest";
import { generate } from "./generate.ts";
import { fromRoot, loadTinyPair } from "./tinyTarget.test-support.ts";

const blockSize = 8;
const steps = 150;

/** The first training record: its question, and the answer that the target gave in PyTorch. */
async function readRecord(): Promise<{ prompt: Int32Array; answer: Int32Array }> {
  const tokenizer = await loadTokenizer(fromRoot("data/tiny-target"));
  const chats = await openChatFile(fromRoot("data/gsm8k/train.tiny-target.jsonl"));
  const record = await chats.read(0);
  await chats.close();
  if (!("messages" in record)) throw new Error("expected a conversation");
  const question = tokenizer.applyChatTemplate(record.messages.slice(0, 1), { addGenerationPrompt: true });
  const prompt = Int32Array.from(tokenizer.encode(question));
  const whole = Int32Array.from(tokenizer.encode(tokenizer.applyChatTemplate(record.messages)));
  // The template ends a turn with its stop token and a newline.
  return { prompt, answer: whole.slice(prompt.length, whole.lastIndexOf(tokenizer.eosTokenId!) + 1) };
}

test("a drafter trained on one record drafts it in whole blocks, and the reply is the record", async () => {
  const { ops, timer, target } = await loadTinyPair("wasm");
  const { prompt, answer } = await readRecord();
  const config = createDrafterConfig({
    target: { ...target.config, ropeTheta: target.config.rope.theta },
    layers: 1,
    blockSize,
    targetLayerIds: targetLayerIds(target.layers, 3),
    maskTokenId: 3,
  });
  const drafter = await createDrafter({ ops, config, timer, weights: randomWeights(1, config.initializerRange) });
  const ids = Int32Array.of(...prompt, ...answer);
  const lossMask = Uint8Array.from(ids, (_, i) => Number(i >= prompt.length));
  const batch = { index: 0, ids, lossMask, rowStarts: Int32Array.of(0, ids.length) };
  const { features } = target.forward(batch, { layerIds: config.targetLayerIds });
  // The same features every time: each step's disposal must leave them.
  const batches = Array.from({ length: steps }, (_, index) => ({
    ...batch,
    index,
    features,
    last: null,
    dispose() {},
  }));
  const learningRate = warmupCosine({ peak: 4e-3, steps });
  const optimizer = [clipByGlobalNorm({ ops }), adamW({ ops, learningRate })];
  const step = createTrainStep({ drafter, head: target.head, ops, timer, optimizer, anchorsPerRow: 12, seed: 1 });
  await trainDrafter({ source: Readable.from(batches), step, steps, timer }).finished;

  const options = { ops, timer, target, drafter, prompts: [prompt], maxNewTokens: 128, stopIds: [2] };
  const [reply] = await generate(options);
  expect([...reply!.ids]).toEqual([...answer]);
  // The last one ends with the record.
  const rounds = reply!.acceptanceLengths.slice(0, -1);
  expect(rounds).toEqual(Array(rounds.length).fill(blockSize));
  expect(rounds.length).toBeGreaterThan(5);
});
