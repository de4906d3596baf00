import { spawn } from "node:child_process";
import { availableParallelism, totalmem } from "node:os";
import { type EngineName, engineNames } from "@dflash/engine";
import { Command, Option } from "commander";
import type { EngineCheck } from "../checkEngine.ts";
import { showProgress } from "../showProgress.ts";

/** `dflash doctor`: what this machine offers, and what would make it faster. */
export function doctorCommand(): Command {
  return (
    new Command("doctor")
      .description("say which tensor engines work here, how fast, and what the missing ones lack")
      // A process for each engine: a native library that kills its process must not kill this one.
      .addOption(new Option("--check <engine>").hideHelp())
      .action(async ({ check }: { check?: EngineName }) => {
        if (check === undefined) return examine();
        const { checkEngine } = await import("../checkEngine.ts");
        console.log(JSON.stringify(await checkEngine(check)));
      })
  );
}

async function examine(): Promise<void> {
  const memory = `${(totalmem() / 2 ** 30).toFixed(1)} GiB of memory`;
  console.log(
    `node  ${process.version}, ${process.platform} ${process.arch}, ${availableParallelism()} cores, ${memory}`,
  );
  const progress = showProgress();
  const working: EngineName[] = [];
  for (const name of engineNames) {
    progress.say(`checking ${name}`);
    const check = await checkApart(name);
    progress.end();
    if (check.working !== null && !check.working.emulated) working.push(name);
    for (const line of describe(name, check)) console.log(line);
  }
  console.log(working[0] === undefined ? "no engine works here" : `train takes ${working[0]} unless told otherwise`);
}

/** Runs this command in a process of its own for one engine. */
function checkApart(name: EngineName): Promise<EngineCheck> {
  const [, main = ""] = process.argv;
  const child = spawn(process.execPath, [...process.execArgv, main, "doctor", "--check", name], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      const last = output.trim().split("\n").at(-1) ?? "";
      if (code === 0 && last.startsWith("{")) resolve(JSON.parse(last));
      else resolve({ line: `dies while it is checked (${signal ?? `exit code ${code}`})`, working: null });
    });
  });
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
    `    repeatable  ${deterministic ? "the same bits every time" : "not bit for bit"}`,
    `    memory      ${(bytes / 2 ** 20).toFixed(0)} MiB in the process`,
  ];
}
