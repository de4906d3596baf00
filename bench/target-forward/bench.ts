/** Prints, as Markdown, the target's forward beside PyTorch's, each in a process of its own, taking turns. */
import { spawn } from "node:child_process";
import { cpus, loadavg } from "node:os";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

interface Answer {
  readonly wall: number;
  readonly cpu: number;
  readonly peak: number;
}

const path = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const [roundsText = "15", dir = path("../../data/tiny-target"), ids = "1,2,3,4,5"] = process.argv.slice(2);
const rounds = Number(roundsText);
const warmUp = 2;
const batches = [
  { rows: 2, length: 128 },
  { rows: 8, length: 256 },
];

console.log(`Node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores, load ${loadavg()[0]!.toFixed(1)}\n`);
for (const { rows, length } of batches) {
  console.log(
    `| ${rows} rows of ${length} tokens | median ms | p10 to p90 | least CPU ms | CPU, PyTorch = 1 | peak MiB |`,
  );
  console.log("| --- | ---: | ---: | ---: | ---: | ---: |");
  for (const threads of ["1", "2"]) {
    const shape = [String(rows), String(length), ids];
    const [pytorch, wasm] = await measure([
      ["python3", path("pytorch.py"), dir, threads, ...shape],
      [process.execPath, "--import", "tsx", path("forwardProcess.ts"), dir, "wasm", threads, ...shape],
    ]);
    const leastCpu = Math.min(...pytorch!.map(({ cpu }) => cpu));
    console.log(line(`PyTorch fp32, threads ${threads}`, pytorch!, leastCpu));
    console.log(line(`wasm, threads ${threads}`, wasm!, leastCpu));
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

function line(name: string, answers: readonly Answer[], leastCpu: number): string {
  const walls = answers.map(({ wall }) => wall).toSorted((a, b) => a - b);
  const at = (share: number): string => walls[Math.round(share * (walls.length - 1))]!.toFixed(1);
  const cpu = Math.min(...answers.map((answer) => answer.cpu));
  const peak = Math.max(...answers.map((answer) => answer.peak)) / 2 ** 20;
  return `| ${name} | ${at(0.5)} | ${at(0.1)} to ${at(0.9)} | ${cpu.toFixed(1)} | ${(cpu / leastCpu).toFixed(2)} | ${peak.toFixed(0)} |`;
}
