import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { lockFolder } from "./lockFolder.ts";

let dir: string;
beforeEach(async () => void (dir = await mkdtemp(join(tmpdir(), "lock-"))));
afterEach(() => rm(dir, { recursive: true }));

test("a folder has one writer at a time, and nothing is left of it", async () => {
  const free = await lockFolder(dir);
  await expect(lockFolder(dir)).rejects.toThrow(
    `${dir}: process ${process.pid} on ${hostname()} is writing there; wait for it, choose another folder, or remove ${join(dir, ".writer.lock")} if it has ended`,
  );
  await free();
  expect(await readdir(dir)).toEqual([]);
  await (
    await lockFolder(dir)
  )();
});

test("of many that come at once one is let in", async () => {
  const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => lockFolder(dir)));
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

test("a process that has ended writes no more; one of another machine may", async () => {
  const { pid } = spawnSync(process.execPath, ["-e", "0"]);
  await writeFile(join(dir, ".writer.lock"), `${pid} ${hostname()}`);
  await (
    await lockFolder(dir)
  )();
  await writeFile(join(dir, ".writer.lock"), `${pid} elsewhere`);
  await expect(lockFolder(dir)).rejects.toThrow(`process ${pid} on elsewhere is writing there`);
});

test("a folder that isn't there is said so", async () => {
  await expect(lockFolder(join(dir, "nowhere"))).rejects.toThrow("ENOENT");
});
