/** Prints, as Markdown, speculative generation beside generation by the target alone, a batch of prompts by each way in turn. */
import { cpus, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { loadCausalLM } from "@dflash/causal-lm";
import { loadTokenizer, openChatFile } from "@dflash/chat-data";
import { loadDrafter } from "@dflash/drafter";
import { engineNames, startEngine } from "@dflash/engine";
import { createOps } from "@dflash/ops";
import { generate, measureAcceptance, type Generation } from "@dflash/speculate";
import { createTimer } from "@dflash/timer";

interface Way {
  readonly name: string;
  readonly blockSize: number | null;
  readonly answers: Generation[];
  readonly wallMs: number[];
  readonly cpuMs: number[];
}

const path = (file: string): string => fileURLToPath(new URL(`../../${file}`, import.meta.url));
const [engineName = "wasm", threads = "1", promptsText = "20", maxNewTokensText = "128", batchText = "1"] =
  process.argv.slice(2);
const batch = Number(batchText);
const drafterDir = process.argv[7] ?? path("fixtures/drafter-b8");
const resolveFrom = path("apps/trainer");
const name = engineNames.find((known) => known === engineName) ?? "auto";
const engine = await startEngine(name, { threads: Number(threads), resolveFrom });
const ops = createOps(engine);
const timer = createTimer();
const target = await loadCausalLM(path("data/tiny-target"), { ops });
const drafter = await loadDrafter(drafterDir, { ops, timer });
const tokenizer = await loadTokenizer(path("data/tiny-target"));
const chats = await openChatFile(path("data/gsm8k/test.tiny-target.jsonl"));

const ways: Way[] = [null, 2, 4, drafter.config.blockSize].map((blockSize) => ({
  name: blockSize === null ? "target alone" : `blocks of ${blockSize}`,
  blockSize,
  answers: [],
  wallMs: [],
  cpuMs: [],
}));
const maxNewTokens = Number(maxNewTokensText);
const stopIds = [tokenizer.eosTokenId ?? -1];

async function answer(way: Way, prompts: readonly Int32Array[], counted: boolean): Promise<void> {
  const speculation = way.blockSize === null ? { drafter: null } : { drafter, blockSize: way.blockSize };
  const options = { ops, target, timer, prompts, batch, maxNewTokens, stopIds, ...speculation };
  const cpu = process.cpuUsage();
  const start = performance.now();
  const generations = await generate(options);
  const wall = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  if (!counted) return;
  const tokens = generations.reduce((sum, { ids }) => sum + ids.length, 0);
  way.answers.push(...generations);
  way.wallMs.push(wall / tokens);
  way.cpuMs.push((user + system) / 1000 / tokens);
}

const prompts: Int32Array[] = [];
for (let row = 0; row < Number(promptsText); row++) {
  const record = await chats.read(row);
  if (!("messages" in record)) throw new Error("expected conversations");
  const text = tokenizer.applyChatTemplate(record.messages.slice(0, 1), { addGenerationPrompt: true });
  prompts.push(Int32Array.from(tokenizer.encode(text)));
}
for (const way of ways) await answer(way, prompts.slice(0, batch), false);
for (let start = 0; start < prompts.length; start += batch)
  for (const way of ways) await answer(way, prompts.slice(start, start + batch), true);
await chats.close();
engine.dispose();

const sorted = (values: readonly number[]): number[] => values.toSorted((a, b) => a - b);
const at = (values: readonly number[], share: number): number =>
  sorted(values)[Math.round(share * (values.length - 1))]!;
const [alone] = ways;
console.log(`Node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores, load ${loadavg()[0]!.toFixed(1)}`);
console.log(
  `${engine.description}; ${promptsText} prompts, ${batch} at a time, at most ${maxNewTokens} new tokens, greedy\n`,
);
console.log(
  "| | acceptance length | ms a token, median | p10 to p90 | times as fast | CPU ms a token, median | CPU, times less |",
);
console.log("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
for (const { name: way, answers, wallMs, cpuMs, blockSize } of ways) {
  const { pooled } = measureAcceptance(answers, blockSize ?? 1);
  const same = answers.every(({ ids }, row) => ids.join() === alone!.answers[row]!.ids.join());
  const ratio = (own: readonly number[], other: readonly number[]): string =>
    at(
      own.map((ms, row) => other[row]! / ms),
      0.5,
    ).toFixed(2);
  const spread = `${at(wallMs, 0.1).toFixed(1)} to ${at(wallMs, 0.9).toFixed(1)}`;
  const cells = [
    `${way}${same ? "" : " (other tokens!)"}`,
    pooled?.toFixed(3) ?? "-",
    at(wallMs, 0.5).toFixed(2),
    spread,
    ratio(wallMs, alone!.wallMs),
    at(cpuMs, 0.5).toFixed(2),
    ratio(cpuMs, alone!.cpuMs),
  ];
  console.log(`| ${cells.join(" | ")} |`);
}
