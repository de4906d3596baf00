import type { Span } from "@dflash/timer/spans";
import { expect, test } from "vitest";
import { deviceTimes } from "./observeDevice.ts";

const span = (name: string, kernels: Span["kernels"]): Span => ({
  name,
  lane: "drafter",
  startMs: 0,
  ms: 1,
  local: true,
  depth: 0,
  kernels,
});

test("a section has the device's time of the kernels that were dispatched in it, and in its children", () => {
  // 3 kernels in forward, 2 of them in its child; 4 in backward, in two runs; none in log.
  const spans = [
    span("forward", [10, 13]),
    span("attention", [11, 13]),
    span("backward", [13, 15]),
    span("backward", [15, 17]),
    span("log", [17, 17]),
    span("worker", null),
  ];
  const times = [
    { kernels: 10, ms: 1 },
    { kernels: 11, ms: 2 },
    { kernels: 13, ms: 4 },
    { kernels: 15, ms: 8 },
    { kernels: 17, ms: 100 },
  ];
  expect(Object.fromEntries(deviceTimes(spans, times))).toEqual({ forward: 3, attention: 2, backward: 12, log: 0 });
});
