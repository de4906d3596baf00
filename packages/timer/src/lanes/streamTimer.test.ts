import { array, assert, integer, nat, property, record } from "fast-check";
import { expect, it } from "vitest";
import { observeCauses } from "../causes/observeCauses.ts";
import { createTimer } from "../createTimer.ts";
import type { Timer } from "../timer.ts";
import { virtualTimer } from "../virtualTimer.test-support.ts";
import { attachTimer } from "./attachTimer.ts";
import { receiveTimer } from "./receiveTimer.ts";
import { shareTimer } from "./shareTimer.ts";
import { streamTimer } from "./streamTimer.ts";

interface Forward {
  busyNs: number;
  packNs: number;
  tokens: number;
  kernels: number;
}

/** Attaches a timer; gives what must be done before a step closes. */
type Connect = (own: Timer, other: Timer) => () => void;

const throughMemory: Connect = (own, other) => {
  attachTimer(own, shareTimer(other));
  return () => undefined;
};

/** As bytes, in pieces of this size. */
const throughPieces =
  (size: number): Connect =>
  (own, other) => {
    const sent: number[] = [];
    const streamed = streamTimer(other, (bytes) => void sent.push(...bytes));
    const received = receiveTimer(structuredClone(streamed));
    attachTimer(own, received.timer);
    return () => {
      while (sent.length > 0) received.write(Uint8Array.from(sent.splice(0, size)));
    };
  };

/** The reports of steps beside which another timer's forwards run. */
function play(steps: readonly (readonly Forward[])[], connect: Connect): unknown {
  const { timer, clock, pass, reports } = virtualTimer({ lane: "drafter" });
  const other = createTimer({ lane: "target", shared: connect === throughMemory, clock });
  const probe = { kernels: 0, newBytes: 0, tensors: 0, newShapes: 0, syncMs: 0 };
  observeCauses(other, probe);
  const [forward, pack] = [other.section("forward"), other.section("pack", { role: "packing" })];
  // What comes before it is connected is not told.
  forward.time(() => pass(10));
  const deliver = connect(timer, other);
  const fit = timer.section("fit");
  for (const forwards of steps) {
    timer.step(() => {
      fit.start();
      for (const { busyNs, packNs, tokens, kernels } of forwards) {
        forward.time(() => {
          pass(busyNs);
          probe.kernels += kernels;
        });
        forward.add("tokens", tokens);
        pack.time(() => pass(packNs));
      }
      fit.stop();
      deliver();
    });
  }
  return reports.map(({ ms, sections, lanes, dropped, unbalanced }) => ({ ms, sections, lanes, dropped, unbalanced }));
}

it("shows a timer of another process as one of another thread, whatever the pieces in which its bytes come", () => {
  const forward = record({ busyNs: nat(1e6), packNs: nat(1e6), tokens: nat(1000), kernels: nat(9) });
  const steps = array(array(forward, { maxLength: 5 }), { minLength: 1, maxLength: 4 });
  assert(
    property(steps, integer({ min: 1, max: 200 }), (forwards, size) => {
      expect(play(forwards, throughPieces(size))).toEqual(play(forwards, throughMemory));
    }),
    { numRuns: 30 },
  );
});

it("takes no new sections once its names are told", () => {
  const timer = createTimer();
  streamTimer(timer, () => undefined);
  expect(() => timer.section("late")).toThrow('timer: section "late" comes after streamTimer()');
});
