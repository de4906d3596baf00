import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test, vi } from "vitest";
import { interruptionCode } from "./interruption.ts";
import { ownGroup, untilEnded } from "./untilEnded.ts";

test("a signal ends a child and what that has started, and says so", async () => {
  const child = spawn("sh", ["-c", "sleep 60 & echo $!; wait"], { detached: ownGroup });
  const ended = untilEnded(child);
  const [printed] = await once(child.stdout, "data");
  process.kill(process.pid, "SIGHUP");
  expect(interruptionCode(await ended.catch((error: unknown) => error))).toBe(129);
  // Orphans are reaped a moment later.
  await vi.waitFor(() => expect(() => process.kill(Number(printed), 0)).toThrow("ESRCH"), 10_000);
});

test("a child that ends by itself says how", async () => {
  expect(await untilEnded(spawn("sh", ["-c", "exit 3"]))).toEqual({ code: 3, how: "exit code 3" });
  expect(await untilEnded(spawn("sh", ["-c", "kill -9 $$"]))).toEqual({ code: null, how: "SIGKILL" });
  await expect(untilEnded(spawn("no-such-program"))).rejects.toThrow("ENOENT");
});
