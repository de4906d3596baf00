/** Prints, as Markdown, how many tokens a second become training rows, beside Python's transformers and tokenizers. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { createChatBatches, createChatEncoder, loadTokenizer, openChatFile } from "@dflash/chat-data";

const folder = join(import.meta.dirname, "../../data/tiny-target");
const path = join(import.meta.dirname, "../../data/gsm8k/train.tiny-target.jsonl");
const rounds = 7;

const tokenizer = await loadTokenizer(folder);
const encode = createChatEncoder({ tokenizer });
const lines = readFileSync(path, "utf8").trim().split("\n").slice(0, 1000);
const records: { messages: { role: string; content: string }[] }[] = lines.map((line) => JSON.parse(line));
const texts = records.map(({ messages }) => tokenizer.applyChatTemplate(messages));
const tokens = texts.reduce((sum, text) => sum + tokenizer.encode(text).length, 0);

const ours: Record<string, number[]> = {
  ids: timed(() => texts.map((text) => tokenizer.encode(text))),
  "chat template": timed(() => records.map(({ messages }) => tokenizer.applyChatTemplate(messages))),
  "rows: template, ids, alignment, mask": timed(() => records.map(encode)),
};
const python = timePython();
if (python !== undefined && python.tokens !== tokens)
  throw new Error(`Python finds ${python.tokens} tokens, expected ${tokens}`);

console.log(
  `Node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores; ${records.length} rows, ${tokens} tokens, n = ${rounds}\n`,
);
console.log("| work | median, tokens/s | slowest to fastest | × our rows |\n| --- | ---: | ---: | ---: |");
const base = median(ours["rows: template, ids, alignment, mask"]!);
for (const [work, seconds] of Object.entries({ ...prefixed(ours), ...python?.work })) {
  const rate = (s: number) => Math.round(tokens / s).toLocaleString("en");
  const spread = `${rate(Math.max(...seconds))} to ${rate(Math.min(...seconds))}`;
  console.log(`| ${work} | ${rate(median(seconds))} | ${spread} | ${(base / median(seconds)).toFixed(1)} |`);
}

let start = performance.now();
const file = await openChatFile(path);
const opened = performance.now() - start;
await file.close();
console.log(`\nOpening and checking ${file.length} records: ${opened.toFixed(0)} ms.`);
start = performance.now();
const batches = await createChatBatches({ file: path, tokenizer, batchRows: 2, maxLength: 512 });
const waits: number[] = [];
for await (const { index } of batches) {
  waits.push(performance.now() - start);
  if (index === 299) break;
  start = performance.now();
}
await batches.close();
const [first, ...later] = waits;
console.log(
  `First batch of two rows after ${first?.toFixed(0)} ms, opening included; ${median(later).toFixed(1)} ms each afterwards.`,
);

function timed(work: () => unknown): number[] {
  work();
  return Array.from({ length: rounds }, () => {
    const begin = performance.now();
    work();
    return (performance.now() - begin) / 1000;
  });
}

function timePython(): { tokens: number; work: Record<string, number[]> } | undefined {
  const script = join(import.meta.dirname, "python_tokenizers.py");
  const input = JSON.stringify({ folder, records, rounds });
  const { status, stdout, stderr } = spawnSync("python3", [script], { input, encoding: "utf8" });
  if (status === 0) return JSON.parse(stdout);
  console.error(`Python was not run: ${stderr?.trim().split("\n").at(-1) ?? "no python3"}`);
  return undefined;
}

function prefixed(work: Record<string, number[]>): Record<string, number[]> {
  return Object.fromEntries(Object.entries(work).map(([name, seconds]) => [`@dflash/chat-data: ${name}`, seconds]));
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
