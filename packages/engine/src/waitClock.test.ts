import { EventEmitter, once } from "node:events";
import { expect, test } from "vitest";
import { createWaitClock } from "./waitClock.ts";

test("waits that overlap count once, failed ones too, and one under way up to now", async () => {
  let time = 100;
  const clock = createWaitClock(() => time);
  const device = new EventEmitter();
  const first = clock.during(() => once(device, "first"));
  time = 103;
  expect(clock.ms()).toBe(3);
  const second = clock.during(() => once(device, "second"));
  time = 105;
  device.emit("first", "there");
  expect(await first).toEqual(["there"]);
  time = 110;
  device.emit("error", new Error("lost"));
  await expect(second).rejects.toThrow("lost");
  time = 200;
  expect(clock.ms()).toBe(10);
  await clock.during(async () => void (time += 7));
  expect(clock.ms()).toBe(17);
});
