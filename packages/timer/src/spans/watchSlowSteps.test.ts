import { expect, it } from "vitest";
import { virtualTimer } from "../virtualTimer.test-support.ts";
import { type SlowStep, watchSlowSteps } from "./watchSlowSteps.ts";

it("tells a step beyond the median and six times the median distance from it, with the spans of it and three before, at most once in 100", () => {
  const { timer, pass } = virtualTimer();
  const [fit, part] = [timer.section("fit"), timer.section("part")];
  const slow: SlowStep[] = [];
  const stop = watchSlowSteps(timer, (step) => slow.push(step));
  const step = (us: number): void =>
    timer.step(() => {
      fit.start();
      part.time(() => pass(us * 1_000));
      fit.stop();
    });
  // 98 to 102 ms: the median is 100, the median distance 1.
  for (let i = 0; i < 64; i += 1) step(98_000 + ((i * 3) % 5) * 1_000);
  step(106_000);
  expect(slow).toEqual([]);
  timer.mark("checkpoint");
  step(400_000);
  expect(slow).toEqual([]);
  step(106_001);
  step(150_000);
  expect(slow).toMatchObject([{ step: 67, ms: 106.001, medianMs: 100, madMs: 1 }]);
  expect(
    slow[0]!.steps.map(({ step: number, ms, spans }) => [number, ms, spans.map(({ name, depth }) => [name, depth])]),
  ).toEqual(
    [
      [64, 102],
      [65, 106],
      [66, 400],
      [67, 106.001],
    ].map(([number, ms]) => [
      number,
      expect.closeTo(ms!, 6),
      [
        ["fit", 0],
        ["part", 1],
      ],
    ]),
  );
  for (let i = 0; i < 98; i += 1) step(100_000);
  step(500_000);
  expect(slow).toHaveLength(1);
  step(500_000);
  expect(slow).toHaveLength(2);
  stop();
});
