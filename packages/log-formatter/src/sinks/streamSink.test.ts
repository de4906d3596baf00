import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { terminalTarget } from "./streamSink.ts";

const child = fileURLToPath(new URL("./logToStdout.test-support.ts", import.meta.url));

interface Result {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the child with its stdout in a pipe that is read, left alone, or closed after the first chunk. */
async function run(
  args: string[],
  reader: "reads" | "sleeps" | "leaves",
  env: NodeJS.ProcessEnv = {},
): Promise<Result> {
  const { NO_COLOR: _, FORCE_COLOR: __, ...clean } = process.env;
  const running = spawn(process.execPath, ["--import", "tsx", child, ...args], {
    env: { ...clean, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (reader === "leaves") running.stdout.once("data", () => running.stdout.destroy());
  const [stdout, stderr, [code]] = await Promise.all([
    reader === "reads" ? text(running.stdout) : "",
    text(running.stderr),
    once(running, "exit") as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr };
}

test("through a pipe every line arrives, without an escape code", async () => {
  const { code, stdout, stderr } = await run(["pretty", "5000"], "reads");
  expect(stderr).toBe("done: 5000 steps\n");
  expect(code).toBe(0);
  expect(stdout.split("\n")).toHaveLength(5002);
  expect(stdout).not.toContain("\u001b");
});

test("FORCE_COLOR colours a pipe", async () => {
  expect((await run(["pretty", "1"], "reads", { FORCE_COLOR: "1" })).stdout).toContain("\u001b[1mstep");
});

test("of a page only the last is printed", async () => {
  const { stdout } = await run(["prometheus", "3"], "reads");
  expect(stdout.match(/^dflash_step .*$/gm)).toEqual(["dflash_step 3"]);
});

test("a pipe that nobody reads is given up and never waited for: the run ends", async () => {
  const { code, stderr } = await run(["ndjson", "20000"], "sleeps");
  expect(stderr).toMatch(/^off: ndjson to stdout: stdout is not being read: \d+ bytes wait\ndone: 20000 steps\n$/);
  expect(code).toBe(0);
});

test("a reader that leaves, such as head, does not end the run", async () => {
  const { code, stderr } = await run(["ndjson", "5000"], "leaves");
  expect(stderr).toMatch(/^off: ndjson to stdout: .*EPIPE.*\ndone: 5000 steps\n$/);
  expect(code).toBe(0);
});

const stream = (isTTY: boolean): NodeJS.WriteStream => ({ isTTY, columns: 123 }) as NodeJS.WriteStream;

test.each([
  [true, {}, true],
  [false, {}, false],
  [true, { NO_COLOR: "1" }, false],
  [true, { NO_COLOR: "" }, true],
  [true, { TERM: "dumb" }, false],
  [false, { FORCE_COLOR: "1" }, true],
  [true, { FORCE_COLOR: "0" }, false],
  [true, { FORCE_COLOR: "3", NO_COLOR: "1" }, true],
])("colour on a terminal (%s) under %j: %s", (isTerminal, env, expected) => {
  expect(terminalTarget(stream(isTerminal), env).color).toBe(expected);
});

test("the width is the terminal's at the moment, and nothing in a pipe", () => {
  const terminal = stream(true);
  const target = terminalTarget(terminal, {});
  expect(target.columns).toBe(123);
  terminal.columns = 40;
  expect(target.columns).toBe(40);
  terminal.columns = 0;
  expect(target.columns).toBeNull();
  expect(terminalTarget(stream(false), {}).columns).toBeNull();
});
