import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { LogRecord } from "@dflash/log-formatter";
import { expect, onTestFinished, test } from "vitest";
import { dflash, type Finished, nodeDflash, temporaryFolder } from "../dflash.test-support.ts";
import { readLog, steps } from "../runLog.test-support.ts";

const shape = ["--layers", "1", "--heads", "2", "--kv-heads", "1", "--intermediate-size", "64"];
const small = [...shape, "--threads", "1", "--anchors", "2", "--rows", "1", "--max-length", "48", "--engine", "wasm"];

/** A message and nothing else, and the command it names, with which the run goes on and ends. */
async function goesOn(finished: Finished, cwd: string, more: readonly string[] = []): Promise<void> {
  const [line = "", ...others] = finished.stderr.trimEnd().split("\n");
  expect(others).toEqual([]);
  const command = /; step \d+ is saved, go on from there with: pnpm dflash (train --resume \S+)$/.exec(line)?.[1];
  expect(await dflash([...(command ?? line).split(" "), ...more], cwd)).toMatchObject({ code: 0, stderr: "" });
}

const stepsOf = (run: string): number[] => steps(readLog(run)).map(({ step }) => step);

/** A disk of so many MiB; null where this user may not mount one. */
function smallDisk(mebibytes: number): string | null {
  const disk = join(temporaryFolder(), "disk");
  mkdirSync(disk);
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${mebibytes}m`, "tmpfs", disk], {
    stdio: "ignore",
  });
  if (status !== 0) return null;
  onTestFinished(() => void execFileSync("umount", [disk]));
  return disk;
}

test("a run goes on when whoever reads its output and its messages is gone", async () => {
  const folder = temporaryFolder();
  const train = ["train", "--steps", "4", ...small, "--eval-every", "9", "--eval-prompts", "1", "--out", "run"];
  const { args, ...options } = nodeDflash(train, folder);
  const child = spawn(process.execPath, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.destroy();
  child.stderr.destroy();
  const code = await new Promise((resolve) => child.on("close", resolve));
  expect(code).toBe(0);
  expect(stepsOf(join(folder, "run"))).toEqual([1, 2, 3, 4]);
  expect(existsSync(join(folder, "run/summary.json"))).toBe(true);
});

test("a formatter that ends the process ends the run as a kill would, which is no success and can be gone on with", async () => {
  const folder = temporaryFolder();
  writeFileSync(
    join(folder, "ending.mjs"),
    "export default () => ({ step: ({ step }) => (step === 3 ? process.exit(0) : `${step}\\n`) });\n",
  );
  const train = ["train", "--steps", "4", ...small, "--checkpoint-every", "2", "--out", "run"];
  expect(await dflash([...train, "--log-format", "./ending.mjs"], folder)).toMatchObject({
    code: 1,
    stdout: "1\n2\n",
    stderr: expect.stringMatching(
      /^dflash: the process was ended in the middle of the run; go on with: pnpm dflash train --resume run$/m,
    ),
  });
  expect(stepsOf(join(folder, "run"))).toEqual([1, 2, 3]);
  const resumed = await dflash(["train", "--resume", "run", "--log-format", "ndjson"], folder);
  expect(resumed).toMatchObject({ code: 0, stderr: expect.stringContaining("attempt 2, from step 2") });
  expect(stepsOf(join(folder, "run"))).toEqual([1, 2, 3, 3, 4]);
});

test("a run whose terminal is closed saves what it did and ends with 129", async ({ skip }) => {
  if (spawnSync("script", ["-V"]).status !== 0) {
    skip("there is no script, of util-linux, to open a terminal");
    return;
  }
  const folder = temporaryFolder();
  const { args, env } = nodeDflash(["train", "--steps", "100000", ...small, "--out", "run"], folder);
  const quoted = [process.execPath, ...args].map((word) => `'${word}'`).join(" ");
  // As a shell does, it tells its job that the terminal is gone; then how the job has ended. The first wait ends with the signal.
  const told = join(folder, "status");
  const command = `${quoted} & trap "kill -HUP $!" HUP; wait $!; wait $!; echo $? > '${told}.part'; mv '${told}.part' '${told}'`;
  const terminal = spawn("script", ["-qfc", command, "/dev/null"], { env, stdio: ["ignore", "pipe", "ignore"] });
  onTestFinished(() => void terminal.kill("SIGKILL"));
  let shown = "";
  terminal.stdout.on("data", (data: Buffer) => {
    shown += data.toString();
    if (/tok\/s/.test(shown)) terminal.kill("SIGKILL");
  });
  await expect.poll(() => existsSync(told), { timeout: 60_000 }).toBe(true);
  expect(readFileSync(told, "utf8")).toBe("129\n");
  const { reason, steps: done } = JSON.parse(readFileSync(join(folder, "run/summary.json"), "utf8"));
  expect(reason).toBe("signal");
  expect(stepsOf(join(folder, "run"))).toHaveLength(done);
});

test("a full disk is called that, what was saved stays, and the run goes on once there is room", async ({ skip }) => {
  const disk = smallDisk(14);
  if (disk === null) {
    skip("a disk can't be mounted here: root may");
    return;
  }
  const train = ["train", "--steps", "8", ...small, "--checkpoint-every", "2", "--keep", "9", "--out", "run"];
  const full = await dflash(train, disk);
  expect(full.code).toBe(1);
  expect(full.stderr).toMatch(/^dflash: the disk is full: /);
  const saved = readdirSync(join(disk, "run/checkpoints"));
  expect(saved.length).toBeGreaterThan(0);
  expect(saved.filter((name) => !/^step-\d+$/.test(name))).toEqual([]);
  execFileSync("mount", ["-o", "remount,size=64m", disk]);
  await goesOn(full, disk);
  expect(new Set(stepsOf(join(disk, "run")))).toEqual(new Set([1, 2, 3, 4, 5, 6, 7, 8]));
});

test("a disk that is full from the start is called that, and nothing is left on it", async ({ skip }) => {
  const disk = smallDisk(1);
  if (disk === null) {
    skip("a disk can't be mounted here: root may");
    return;
  }
  writeFileSync(join(disk, "rest"), new Uint8Array(2 ** 20));
  expect(await dflash(["train", "--steps", "2", ...small, "--out", "run"], disk)).toMatchObject({
    code: 1,
    stderr: "dflash: the disk is full: run/lock.json: cannot be written (ENOSPC: no space left on device, write)\n",
  });
  expect(readdirSync(disk)).toEqual(["rest"]);
});

test("a step that finds no memory is refused with what to lower, and the run goes on from what is saved", async () => {
  const folder = temporaryFolder();
  const large = ["--anchors", "64", "--rows", "8", "--max-length", "128"];
  const train = ["train", "--steps", "4", ...small, ...large, "--eval-every", "9", "--out", "run"];
  expect(await dflash(train, folder, /^step +1 /m)).toMatchObject({ code: 130, stderr: "" });
  const { args, ...options } = nodeDflash(["train", "--resume", "run"], folder);
  // V8 gives no WebAssembly heap more pages of 64 KiB: enough for the weights, too few for a step.
  const limited = ["--wasm-max-mem-pages=1000", ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, limited, { ...options, encoding: "utf8" });
  expect(status).toBe(1);
  expect(stderr).toMatch(/^dflash: wasm: out of memory: .*; pnpm dflash doctor says which --rows and --anchors fit; /);
  await goesOn({ code: status, stdout, stderr }, folder);
  expect(stepsOf(join(folder, "run")).slice(-1)).toEqual([4]);
});

test("a target worker that is lost in the middle of a run is replaced, and the log says so", async () => {
  const folder = temporaryFolder();
  const lost = join(folder, "lost");
  const killer = join(folder, "killer.mjs");
  // Ends the first target worker from outside, at its third answer.
  writeFileSync(
    killer,
    `import { writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import threads from "node:worker_threads";
let answers = 0;
threads.Worker = class extends threads.Worker {
  constructor(file, options) {
    super(file, options);
    if (!String(file).includes("runTargetWorker")) return;
    this.on("message", ({ kind }) => {
      if (kind !== "states" || ++answers !== 3) return;
      writeFileSync(${JSON.stringify(lost)}, "");
      void this.terminate();
    });
  }
};
syncBuiltinESMExports();`,
  );
  const train = ["train", "--steps", "8", ...small, "--target-workers", "1", "--out", "run"];
  const { args, ...options } = nodeDflash(train, folder);
  const preloaded = ["--import", String(pathToFileURL(killer)), ...args];
  const { status, stderr } = spawnSync(process.execPath, preloaded, { ...options, encoding: "utf8" });
  expect({ status, stderr, lost: existsSync(lost) }).toEqual({ status: 0, stderr: "", lost: true });
  expect(stepsOf(join(folder, "run"))).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  const events = readLog(join(folder, "run")).filter((record: LogRecord) => record.kind === "event");
  expect(events.map(({ name }) => name)).toContain("worker-crash");
});
