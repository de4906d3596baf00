/** Prints, as Markdown, time and memory of a drafter's step beside PyTorch's, each in a process of its own, taking turns. */
import { spawn } from "node:child_process";
import { cpus, loadavg } from "node:os";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { engineProblem } from "@dflash/engine";
import { cases, type StepCase } from "./cases.ts";

interface Answer {
  readonly wall: number;
  readonly cpu: number;
  /** Bytes: most that the process ever held, and what it held before it made the drafter. */
  readonly peak: number;
  readonly idle: number;
}

/** How many steps of each, and which cases, by the first word of their names; all unless given. */
const [roundsText = "20", ...wanted] = process.argv.slice(2);
const rounds = Number(roundsText);
const warmUp = 3;
const path = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const node = [process.execPath, "--import", "tsx", path("stepProcess.ts")];

const problem = await engineProblem("tensorflow", { resolveFrom: path("../../apps/trainer") });
const means: readonly { readonly name: string; readonly command: readonly string[] }[] = [
  { name: "PyTorch, 2 threads", command: ["python3", path("pytorch.py"), "2"] },
  { name: "wasm, 2 threads", command: [...node, "wasm", "2", "fused"] },
  { name: "tensorflow, 2 threads", command: [...node, "tensorflow", "2", "fused"] },
  { name: "PyTorch, 1 thread", command: ["python3", path("pytorch.py"), "1"] },
  { name: "wasm, 1 thread", command: [...node, "wasm", "1", "fused"] },
  { name: "tensorflow, 1 thread", command: [...node, "tensorflow", "1", "fused"] },
].filter(({ name }) => problem === null || !name.startsWith("tensorflow"));

const load = loadavg()[0]!.toFixed(1);
console.log(`Node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores, load ${load} at the start\n`);
if (problem !== null) console.log(`tensorflow is left out: ${problem}\n`);
for (const stepCase of cases.filter(({ name }) => wanted.length === 0 || wanted.includes(name.split(":", 1)[0]!))) {
  console.log(
    `| ${stepCase.name} | median ms | p10 to p90 | PyTorch's over it, median (p10 to p90) | least CPU ms | n | peak memory over idle, MiB |`,
  );
  console.log("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
  const measured = await measure(stepCase);
  for (const { name, answers } of measured) {
    const threads = name.split(", ")[1]!;
    const peer = measured.find((other) => other.name === `PyTorch, ${threads}`);
    console.log(row(name, answers, peer?.answers ?? []));
  }
  console.log("");
}

async function measure(stepCase: StepCase): Promise<{ name: string; answers: Answer[] }[]> {
  const running = means.map(({ name, command }) => ({
    name,
    answers: Array<Answer>(),
    ...startProcess([...command, JSON.stringify(stepCase)]),
  }));
  for (let round = -warmUp; round < rounds; round++) {
    for (const { answers, ask } of running) {
      const answer = await ask();
      if (round >= 0 && answer !== null) answers.push(answer);
    }
  }
  for (const { end } of running) end();
  return running;
}

/** A process that answers each line with one step; null once it has ended. */
function startProcess([command = "", ...args]: readonly string[]): {
  ask: () => Promise<Answer | null>;
  end: () => void;
} {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  child.on("error", () => {});
  child.stdin.on("error", () => {});
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async ask() {
      child.stdin.write("step\n");
      const { value, done } = await answers.next();
      if (done) return null;
      const answer: Answer = JSON.parse(value);
      return answer;
    },
    end: () => child.stdin.end(),
  };
}

function row(name: string, answers: readonly Answer[], peer: readonly Answer[]): string {
  if (answers.length === 0) return `| ${name} | not run here | | | | | |`;
  const wall = answers.map((answer) => answer.wall);
  // Of steps that were taken one after the other, so that both met the same machine.
  const ratios = wall.flatMap((ms, i) => (peer[i] === undefined ? [] : [peer[i].wall / ms]));
  const ratio =
    ratios.length === 0
      ? ""
      : `${at(ratios, 0.5).toFixed(2)} (${at(ratios, 0.1).toFixed(2)} to ${at(ratios, 0.9).toFixed(2)})`;
  const cpu = Math.min(...answers.map((answer) => answer.cpu)).toFixed(0);
  const { peak, idle } = answers.at(-1)!;
  const mebibytes = ((peak - idle) / 2 ** 20).toFixed(0);
  const [middle, low, high] = [0.5, 0.1, 0.9].map((share) => at(wall, share).toFixed(0));
  return `| ${name} | ${middle} | ${low} to ${high} | ${ratio} | ${cpu} | ${answers.length} | ${mebibytes} |`;
}

function at(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(share * values.length)]!;
}
