import { spawn } from "node:child_process";

export interface RunCommandOptions {
  readonly cwd?: string;
  /** Called with each line that the command prints while it runs, on either stream. */
  readonly onLine?: (line: string) => void;
}

/**
 * Runs a program and returns what it printed on standard output.
 * @throws Error of one line: that the program is missing, or its exit code and what it complained about.
 */
export function runCommand(
  program: string,
  args: readonly string[],
  { cwd, onLine }: RunCommandOptions = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], ...(cwd === undefined ? {} : { cwd }) });
    const printed = { stdout: "", stderr: "" };
    for (const stream of ["stdout", "stderr"] as const) {
      child[stream].setEncoding("utf8").on("data", (text: string) => {
        printed[stream] += text;
        for (const line of text.split(/[\r\n]+/)) if (line.trim() !== "") onLine?.(line.trim());
      });
    }
    child.on("error", (error) => reject(new Error(`${program} does not start: ${error.message}`, { cause: error })));
    child.on("close", (code, signal) => {
      if (code === 0) resolve(printed.stdout);
      else reject(new Error(`${program} ended with ${signal ?? code}: ${complaint(printed.stderr || printed.stdout)}`));
    });
  });
}

/** The line that most likely says what is wrong. */
function complaint(output: string): string {
  const lines = output.split("\n").map((line) => line.trim());
  const said = lines.filter((line) => line !== "");
  return said.findLast((line) => /error/i.test(line)) ?? said.at(-1) ?? "it printed nothing";
}
