import { expect, it } from "vitest";
import { createStatistics } from "./createStatistics.ts";
import { virtualTimer } from "../virtualTimer.test-support.ts";

it("describes windows and the whole run, tells missing from 0, and leaves out warm-up", () => {
  const { timer, pass } = virtualTimer();
  const [fit, save] = [timer.section("fit"), timer.section("save")];
  const statistics = createStatistics(timer);
  const step = (ms: number, saves: boolean): void =>
    timer.step(() => {
      fit.time(() => pass(ms * 1e6));
      if (saves) save.time(() => pass(5e6));
      pass(1e6);
    });

  timer.mark("warmup");
  step(5_000, true);
  for (let i = 1; i <= 9; i += 1) step(i * 100, i % 3 === 0);
  const first = statistics.window();
  expect(first).toMatchObject({
    from: 2,
    to: 10,
    sections: { fit: { n: 9, missing: 0, sumMs: 4_500, maxMs: 900 }, save: { n: 3, missing: 6, sumMs: 15, maxMs: 5 } },
    residual: { n: 9, sumMs: 9 },
  });
  expect(Math.abs(first.sections.fit!.p50Ms! - 500)).toBeLessThan(16);

  expect(statistics.window()).toMatchObject({ from: 0, to: 0, sections: { fit: { n: 0, missing: 0, p50Ms: null } } });
  step(2_000, false);
  timer.section("later");
  expect(statistics.summary()).toMatchObject({
    from: 2,
    to: 11,
    step: { n: 10, maxMs: 2_001 },
    sections: { fit: { n: 10, sumMs: 6_500 }, save: { n: 3, missing: 7 }, later: { n: 0, missing: 10 } },
  });
  expect(statistics.window()).toMatchObject({ from: 11, to: 11, sections: { fit: { n: 1 } } });
  expect(statistics.summary()).toMatchObject({ from: 2, to: 11, step: { n: 10 } });
  statistics.stop();
  step(1, false);
  expect(statistics.summary().to).toBe(11);
});
