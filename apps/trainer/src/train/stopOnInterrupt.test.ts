import { spawn } from "node:child_process";
import { expect, test } from "vitest";

/** A program that goes on until it is stopped, and then says so. */
const program = `
  import { stopOnInterrupt } from ${JSON.stringify(new URL("./stopOnInterrupt.ts", import.meta.url).href)};
  const interrupt = stopOnInterrupt(console.log);
  const stubborn = process.argv.includes("stubborn");
  console.log("ready");
  const timer = setInterval(() => {
    if (!interrupt.signal.aborted || stubborn) return;
    clearInterval(timer);
    interrupt.release();
    console.log("saved");
    process.exitCode = interrupt.exitCode();
  }, 10);
`;

/** Runs it, with a signal whenever it has printed a line that asks for one. */
function run(signals: readonly NodeJS.Signals[], ...args: string[]): Promise<{ code: number | null; lines: string[] }> {
  return new Promise((resolve) => {
    const loader = import.meta.resolve("tsx");
    const child = spawn(process.execPath, ["--import", loader, "--input-type=module", "-e", program, ...args]);
    const left = [...signals];
    const lines: string[] = [];
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      lines.push(...text.trim().split("\n"));
      const next = left.shift();
      if (next) child.kill(next);
    });
    child.on("close", (code) => resolve({ code, lines }));
  });
}

const stopping = "stopping after this step; Ctrl-C again ends at once";

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)("%s lets the step finish and everything be saved", async (signal, code) => {
  expect(await run([signal])).toEqual({ code, lines: ["ready", stopping, "saved"] });
});

test("the second one ends the process at once", async () => {
  expect(await run(["SIGINT", "SIGTERM"], "stubborn")).toEqual({ code: 143, lines: ["ready", stopping] });
});

test("the end of the shell that a package manager runs a script in is heard as SIGTERM", async () => {
  const node = ["--import", import.meta.resolve("tsx"), "--input-type=module", "-e", program];
  const shell = spawn("sh", ["-c", '"$@"; true', "sh", process.execPath, ...node], {
    env: { ...process.env, npm_lifecycle_event: "train" },
  });
  let printed = "";
  shell.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
    if (text.includes("ready")) shell.kill();
  });
  await new Promise((resolve) => shell.on("close", resolve));
  expect(printed.trim().split("\n")).toEqual(["ready", stopping, "saved"]);
});
