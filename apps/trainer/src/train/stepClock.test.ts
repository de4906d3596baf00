import { expect, test } from "vitest";
import { createStepClock } from "./stepClock.ts";

test("a step lasts from the last one's end to its own, an evaluation between them aside", () => {
  let now = 100;
  const clock = createStepClock(() => now);
  now += 30;
  expect(clock.step()).toMatchObject({ step: 1, startMs: 0, ms: 30, residualMs: 30, sections: {} });
  now += 500;
  clock.leaveOut(500);
  now += 40;
  expect(clock.step()).toMatchObject({ step: 2, startMs: 530, ms: 40, residualMs: 40 });
  now += 20;
  expect(clock.step()).toMatchObject({ step: 3, startMs: 570, ms: 20 });
});
