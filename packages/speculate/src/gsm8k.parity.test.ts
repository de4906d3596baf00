import { execFileSync, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadTokenizer, openChatFile } from "@dflash/chat-data";
import { loadDrafter, saveDrafter } from "@dflash/drafter";
import { expect, test } from "vitest";
import { generate } from "./generate.ts";
import { fromRoot, loadTinyPair } from "./tinyTarget.test-support.ts";

const long = process.env["DFLASH_LONG"] === "1";
const count = long ? 100 : 3;
const maxNewTokens = long ? 128 : 32;

const python = ((): boolean => {
  if (!long) return false;
  const packages = "['torch', 'transformers', 'safetensors']";
  const find = `import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, ${packages})))`;
  return spawnSync("python3", ["-c", find]).status === 0;
})();

async function gsm8kPrompts(): Promise<Int32Array[]> {
  const tokenizer = await loadTokenizer(fromRoot("data/tiny-target"));
  const chats = await openChatFile(fromRoot("data/gsm8k/test.tiny-target.jsonl"));
  const prompts: Int32Array[] = [];
  for (let row = 0; row < count; row++) {
    const record = await chats.read(row);
    const question = "messages" in record ? record.messages.slice(0, 1) : [];
    const text = tokenizer.applyChatTemplate(question, { addGenerationPrompt: true });
    prompts.push(Int32Array.from(tokenizer.encode(text)));
  }
  await chats.close();
  return prompts;
}

test(`on ${count} GSM8K test prompts speculation gives what the target alone gives (100 with DFLASH_LONG=1)`, async () => {
  const { ops, timer, target, drafter } = await loadTinyPair("wasm");
  const prompts = await gsm8kPrompts();
  const options = { ops, timer, target, prompts, maxNewTokens, stopIds: [2], batch: Math.min(count, 20) };
  const speculated = await generate({ ...options, drafter });
  const alone = await generate({ ...options, drafter: null });
  expect(speculated.map(({ ids }) => [...ids])).toEqual(alone.map(({ ids }) => [...ids]));
});

test.skipIf(!python)(
  "the published loop in PyTorch, run on an export, gives the same tokens and acceptance lengths (with DFLASH_LONG=1, where python3 has torch and transformers)",
  async () => {
    const { ops, timer, target, drafter } = await loadTinyPair("wasm");
    const dir = await mkdtemp(join(tmpdir(), "drafter-"));
    await saveDrafter(dir, drafter);
    // What is exported is rounded; so is what is compared.
    const exported = await loadDrafter(dir, { ops, timer });
    const prompts = await gsm8kPrompts();
    const stopIds = [2];
    const answers = await generate({
      ops,
      timer,
      target,
      drafter: exported,
      prompts,
      maxNewTokens,
      stopIds,
      batch: 20,
    });
    const given = { prompts: prompts.map((ids) => [...ids]), max_new_tokens: maxNewTokens, stop_ids: stopIds };
    await writeFile(join(dir, "case.json"), JSON.stringify(given));
    const command = [
      fromRoot("tools/parity/spec_decode.py"),
      fromRoot("data/tiny-target"),
      dir,
      join(dir, "case.json"),
    ];
    const expected: unknown = JSON.parse(execFileSync("python3", command, { encoding: "utf8" }));
    await rm(dir, { recursive: true });
    expect(
      answers.map(({ ids, acceptanceLengths }) => ({ ids: [...ids], acceptance_lengths: acceptanceLengths })),
    ).toEqual(expected);
  },
  600_000,
);
