import { describe, expect, it, vi } from "vitest";
import { observeCauses } from "./observeCauses.ts";
import { virtualTimer } from "../virtualTimer.test-support.ts";

describe("observeCauses", () => {
  it("counts work and reads an engine's causes at every boundary", () => {
    const probe = { kernels: 100, newBytes: 0, tensors: 7, syncMs: 0.5 };
    const { timer, pass, reports } = virtualTimer({ probe });
    const [outer, inner] = [timer.section("outer"), timer.section("inner")];
    timer.section("never");
    timer.step(() => {
      probe.kernels += 1;
      outer.start();
      probe.kernels += 10;
      inner.time(() => {
        probe.kernels += 100;
        probe.newBytes += 4096;
        probe.tensors -= 2;
        inner.add("tokens", 512);
        inner.add("tokens", 8);
        inner.add("flops", 2e12);
        pass(250_000);
      });
      outer.stop();
      probe.syncMs += 0.25;
    });
    expect(reports[0]).toMatchObject({
      causes: { kernels: 111, newBytes: 4096, tensors: -2, newShapes: null, syncMs: 0.25 },
      sections: {
        outer: { causes: { kernels: 110, newBytes: 4096, tensors: -2, newShapes: null, syncMs: 0 }, work: null },
        inner: {
          causes: { kernels: 100 },
          work: { tokens: 520, flops: 2e12, bytes: 0 },
          rates: { tokens: 2_080_000, flops: 8e15, bytes: 0 },
        },
        never: { causes: null, work: null },
      },
    });
    timer.step(() => {});
    expect(reports[1]).toMatchObject({ causes: { kernels: 0 }, sections: { inner: { work: null } } });
  });

  it("waits for the device at section ends in every n-th step, where the engine can block", () => {
    const sync = vi.fn<() => void>();
    const { timer, reports } = virtualTimer({ probe: { sync }, syncEvery: 2 });
    const fit = timer.section("fit");
    for (let step = 0; step < 4; step += 1) timer.step(() => fit.time(() => {}));
    expect(sync).toHaveBeenCalledTimes(2);
    expect(reports.map(({ tags }) => tags)).toEqual([["sync"], [], ["sync"], []]);
    expect(() => observeCauses(timer, {}, { syncEvery: 4 })).toThrow(
      "observeCauses: syncEvery needs an engine that can block",
    );
    expect(() => observeCauses(timer, { sync }, { syncEvery: 0 })).toThrow(
      "observeCauses: syncEvery is 0; give a positive integer",
    );
  });
});
