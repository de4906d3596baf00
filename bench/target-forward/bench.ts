/** Prints, as Markdown, the target's forward beside PyTorch's, each in a process of its own, taking turns. */
import { spawn, spawnSync } from "node:child_process";
import { cpus, loadavg } from "node:os";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { engineProblem } from "@dflash/engine";

interface Answer {
  /** Forward and joining of the features, ms. */
  readonly wall: number;
  /** Joining alone, ms. */
  readonly pack: number;
  readonly cpu: number;
  readonly peak: number;
}

const path = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const [roundsText = "15", dir = path("../../data/tiny-target"), ids = "1,2,3,4,5", shapes = "2x128,8x256"] =
  process.argv.slice(2);
const rounds = Number(roundsText);
const warmUp = rounds > 5 ? 2 : 1;
const problem = await engineProblem("tensorflow", { resolveFrom: path("../../apps/trainer") });
const engines = problem === null ? ["wasm", "tensorflow"] : ["wasm"];
if (problem !== null) console.error(`tensorflow: not run (${problem})`);
const hasPyTorch = spawnSync("python3", ["-c", "import torch, transformers"], { stdio: "ignore" }).status === 0;
if (!hasPyTorch) console.error("PyTorch: not run (python3 has no torch and transformers)");

console.log(`Node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores, load ${loadavg()[0]!.toFixed(1)}\n`);
for (const shape of shapes.split(",")) {
  const [rows = "1", length = "1"] = shape.split("x");
  console.log(
    `| ${rows} rows of ${length} tokens | least ms | PyTorch = 1 | median ms | p10 to p90 | joining, median ms | least CPU ms | PyTorch = 1 | peak MiB |`,
  );
  console.log("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
  for (const threads of ["1", "2"]) {
    const what = [rows, length, ids];
    const names = [...(hasPyTorch ? ["PyTorch fp32"] : []), ...engines];
    const measured = await measure(
      names.map((name) =>
        name === "PyTorch fp32"
          ? ["python3", path("pytorch.py"), dir, threads, ...what]
          : ["node", "--import", "tsx", path("forwardProcess.ts"), dir, name, threads, ...what],
      ),
    );
    const peer = hasPyTorch ? measured[0]! : null;
    for (const [i, answers] of measured.entries()) console.log(line(`${names[i]}, threads ${threads}`, answers, peer));
  }
  console.log("");
}

async function measure(commands: readonly (readonly string[])[]): Promise<Answer[][]> {
  const running = commands.map(([command, ...args]) => {
    const child = spawn(command!, args, { stdio: ["pipe", "pipe", "inherit"] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const ask = async (): Promise<Answer> => {
      child.stdin.write("\n");
      const answer: Answer = JSON.parse((await lines.next()).value);
      return answer;
    };
    return { child, ask, answers: Array<Answer>() };
  });
  for (let round = -warmUp; round < rounds; round++) {
    for (const { ask, answers } of running) {
      const answer = await ask();
      if (round >= 0) answers.push(answer);
    }
  }
  // What takes its time to exit would slow those that come next.
  for (const { child } of running) child.kill("SIGKILL");
  return running.map(({ answers }) => answers);
}

function line(name: string, answers: readonly Answer[], peer: readonly Answer[] | null): string {
  const at = (share: number, of: "wall" | "pack" = "wall"): string => {
    const sorted = answers.map((answer) => answer[of]).toSorted((a, b) => a - b);
    return sorted[Math.round(share * (sorted.length - 1))]!.toFixed(1);
  };
  const least = (of: "wall" | "cpu", from = answers): number => Math.min(...from.map((answer) => answer[of]));
  const ratio = (of: "wall" | "cpu"): string => (peer === null ? "-" : (least(of) / least(of, peer)).toFixed(2));
  const peak = Math.max(...answers.map((answer) => answer.peak)) / 2 ** 20;
  return `| ${name} | ${at(0)} | ${ratio("wall")} | ${at(0.5)} | ${at(0.1)} to ${at(0.9)} | ${at(0.5, "pack")} | ${least("cpu").toFixed(1)} | ${ratio("cpu")} | ${peak.toFixed(0)} |`;
}
