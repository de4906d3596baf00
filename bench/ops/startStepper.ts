import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

/** A process that takes a step for each line of its input and answers with a line of JSON. */
export interface Stepper<Answer> {
  /** The answer to one more step; null once the process has ended, or where it doesn't run here. */
  readonly step: () => Promise<Answer | null>;
  /** Lets it end and gives the most memory that it held, MiB; null where the system doesn't say. */
  readonly end: () => number | null;
}

/** Starts a program that answers step by step. Why it does not run is said on standard error. */
export function startStepper<Answer>([program = "", ...args]: readonly string[]): Stepper<Answer> {
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
  child.on("error", (error) => console.error(`not run: ${error.message}`));
  child.stdin.on("error", () => {});
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async step() {
      child.stdin.write("step\n");
      const { value, done } = await answers.next();
      if (done) return null;
      const answer: Answer = JSON.parse(value);
      return answer;
    },
    end() {
      const status = `/proc/${child.pid}/status`;
      child.stdin.end();
      if (!existsSync(status)) return null;
      const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(status, "utf8")) ?? [];
      return kib === undefined ? null : Number(kib) / 1024;
    },
  };
}
