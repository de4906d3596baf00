import { type EngineName, engineNames } from "@dflash/engine";
import { showProgress } from "../showProgress.ts";
import { spawnDflash } from "../spawnDflash.ts";
import { untilEnded } from "../untilEnded.ts";
import type { EngineCheck } from "./checkEngine.ts";

/** Checks every engine, says what it found, and gives the one that a run takes by itself; null when none works. */
export async function examineEngines(): Promise<EngineName | null> {
  const progress = showProgress();
  const working: EngineName[] = [];
  for (const name of engineNames) {
    progress.say(`checking ${name}`);
    const check = await checkApart(name);
    progress.end();
    if (check.working !== null && !check.working.emulated) working.push(name);
    for (const line of describe(name, check)) console.log(line);
  }
  return working[0] ?? null;
}

/** Checks an engine in a process of its own: a native library that kills its process must not kill this one. */
async function checkApart(name: EngineName): Promise<EngineCheck> {
  const child = spawnDflash(["doctor", "--check", name], ["ignore", "pipe", "ignore"]);
  let output = "";
  child.stdout!.setEncoding("utf8").on("data", (text: string) => (output += text));
  const { code, how } = await untilEnded(child);
  const last = output.trim().split("\n").at(-1) ?? "";
  if (code === 0 && last.startsWith("{")) return JSON.parse(last);
  return { line: `dies while it is checked (${how})`, working: null };
}

function describe(name: EngineName, { line, working }: EngineCheck): string[] {
  if (working === null) return [`✗ ${name}  ${line}`];
  const { flops, difference, composed, fused, bytes, deterministic } = working;
  const right = difference < 2e-5;
  const form = fused === 0 ? "all ops composed" : `${fused} kernels fused`;
  const rest = fused === 0 || composed.length === 0 ? "" : `, composed: ${composed.join(", ")}`;
  return [
    `${right ? "✓" : "✗"} ${name}  ${line}`,
    `    products    ${(flops / 1e9).toFixed(1)} GFLOP/s`,
    `    gradients   ${right ? "right" : "wrong"}: fused differ from composed by ${difference.toExponential(1)} of the largest value`,
    `    ops         ${form}${rest}`,
    `    repeatable  ${deterministic ? "the same bits every time, with as many threads" : "not bit for bit"}`,
    `    memory      ${(bytes / 2 ** 20).toFixed(0)} MiB in the process`,
  ];
}
