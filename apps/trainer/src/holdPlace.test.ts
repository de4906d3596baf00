import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "./dflash.test-support.ts";
import { holdPlace } from "./holdPlace.ts";

/** A lock that a process has, or had, in a folder. */
function lockOf(holder: object): string {
  const lock = join(temporaryFolder(), "lock.json");
  writeFileSync(lock, JSON.stringify({ host: hostname(), birth: null, since: "2026-01-02T03:04:05.678Z", ...holder }));
  return lock;
}

test("a place is held once, let go, and held again; an empty folder goes with the lock", () => {
  const folder = join(temporaryFolder(), "run");
  mkdirSync(folder);
  const lock = join(folder, "lock.json");
  const release = holdPlace("--out run", lock);
  expect(() => holdPlace("--out run", lock)).toThrow(
    new RegExp(
      `^--out run: process ${process.pid} has been writing there since .*; wait for its end, or choose another`,
    ),
  );
  writeFileSync(join(folder, "log.ndjson"), "");
  release();
  expect([existsSync(lock), existsSync(folder)]).toEqual([false, true]);
  const empty = join(temporaryFolder(), "other");
  mkdirSync(empty);
  holdPlace("--out other", join(empty, "lock.json"))();
  expect(existsSync(empty)).toBe(false);
});

test("the lock of a process that has ended, or whose number another has by now, counts for nothing", () => {
  const { pid } = spawnSync("true");
  for (const holder of [{ pid }, { pid: process.pid, birth: "1" }]) {
    const lock = lockOf(holder);
    holdPlace("--out run", lock);
    expect(JSON.parse(readFileSync(lock, "utf8"))).toMatchObject({ pid: process.pid, host: hostname() });
  }
});

test.runIf(process.platform === "linux")(
  "a process that runs holds its place, and none of another host is taken for dead",
  () => {
    const child = spawn("sleep", ["60"]);
    onTestFinished(() => void child.kill());
    const birth = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(" ")[21];
    expect(() => holdPlace("--out run", lockOf({ pid: child.pid, birth }))).toThrow(`process ${child.pid} has been`);
    const lock = lockOf({ pid: 1, host: "elsewhere" });
    expect(() => holdPlace("--out run", lock)).toThrow(
      `--out run: process 1 on elsewhere has been writing there since 2026-01-02T03:04:05.678Z; wait for its end, or choose another place; if it has ended, remove ${lock}`,
    );
    writeFileSync(lock, "");
    expect(() => holdPlace("--out run", lock)).toThrow("says that a process writes there; remove it if none does");
  },
);
