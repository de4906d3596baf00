import { expect, test } from "vitest";
import { createWaitClock } from "./waitClock.ts";

test("waits that overlap count once, failed ones too, and one under way up to now", async () => {
  let time = 100;
  const clock = createWaitClock(() => time);
  let answer = (_: string): void => undefined;
  let fail = (_: Error): void => undefined;
  const answered = clock.during(() => new Promise<string>((resolve) => (answer = resolve)));
  time = 103;
  expect(clock.ms()).toBe(3);
  const failed = clock.during(() => new Promise<string>((_, reject) => (fail = reject)));
  time = 105;
  answer("there");
  expect(await answered).toBe("there");
  time = 110;
  fail(new Error("lost"));
  await expect(failed).rejects.toThrow("lost");
  time = 200;
  expect(clock.ms()).toBe(10);
  await clock.during(async () => void (time += 7));
  expect(clock.ms()).toBe(17);
});
