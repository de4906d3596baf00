import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { forCaller, fromCaller } from "./callerFolder.ts";
import { defaultData } from "./defaultTarget.ts";
import { makeFolder } from "./makeFolder.ts";
import { spawnDflash } from "./spawnDflash.ts";
import { untilEnded } from "./untilEnded.ts";

/** A small drafter behind a target that works for every step: what to do about it is known beforehand, how long it takes is not. */
const settings = ["--steps", "30", "--layers", "1", "--anchors", "4", "--rows", "1", "--max-length", "192"];

/** Records of both runs, which see each of them more than once. */
const mostRecords = 20;

/** Trains behind a slow target, shows the verdict, does what the advice says and trains again, from the same data. */
export async function runDemo(folder: string): Promise<void> {
  const out = fromCaller(folder);
  const [before, after] = [join(out, "before"), join(out, "after")];
  const [records, states] = [join(out, "records.jsonl"), join(out, "hidden-states")];
  if (existsSync(out)) throw new Error(`--out ${folder}: is there already; choose another folder, or remove it`);

  await makeFolder("--out", out);
  writeFileSync(records, readFileSync(defaultData, "utf8").split("\n").slice(0, mostRecords).join("\n"));

  console.log("1. A drafter is trained while the target computes its hidden states, step by step.\n");
  await dflash("train", ...settings, "--data", records, "--out", before);
  const slow = summaryOf(before);
  console.log(
    `\n2. Verdict: ${slow.verdict?.cause ?? "none"}. Now try this: compute the hidden states once, and train from them.\n`,
  );
  await dflash("capture", "--data", records, "--max-length", "192", "--out", states);
  await dflash("train", ...settings, "--data", records, "--hidden-states", states, "--out", after);
  const fast = summaryOf(after);
  await dflash("report", before, after, "--out", join(out, "report.html"));

  console.log(
    `\n3. ${slow.rate.toFixed(0)} tokens/s before, ${fast.rate.toFixed(0)} after: ${(fast.rate / slow.rate).toFixed(1)} times as fast.`,
  );
  console.log(`   Look at both, side by side: ${forCaller(join(out, "report.html"))}`);
}

/** Runs a command as a user would, and shows what it prints. */
async function dflash(...args: string[]): Promise<void> {
  console.log(`$ pnpm dflash ${args.map((arg) => (arg.startsWith("/") ? forCaller(arg) : arg)).join(" ")}`);
  const { code, how } = await untilEnded(spawnDflash(args, "inherit"));
  if (code !== 0) throw new Error(`dflash ${args[0]} ended with ${how}; what it printed says why`);
}

function summaryOf(run: string): { rate: number; verdict: { cause: string } | null } {
  const { tokens_per_s: rate, verdict }: { tokens_per_s: number; verdict: { cause: string } | null } = JSON.parse(
    readFileSync(join(run, "summary.json"), "utf8"),
  );
  return { rate, verdict };
}
