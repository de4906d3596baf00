import type { Section, Timer } from "@dflash/timer";

/** What the loop times. */
export type LoopSections = Readonly<Record<"data" | "forward" | "pack" | "full" | "wait", LoopSection>>;

type LoopSection = Pick<Section, "time" | "add">;

/**
 * Handles of the loop's sections. Inline the producer works inside the consumer's `queue/wait`, so that nothing counts
 * twice although its sections stand in lanes of their own.
 */
export function loopSections(timer: Pick<Timer, "section"> | undefined): LoopSections {
  const untimed: LoopSection = { time: (fn) => fn(), add: () => undefined };
  return {
    data: timer?.section("data", { lane: "data", role: "data" }) ?? untimed,
    forward: timer?.section("target/forward", { lane: "target" }) ?? untimed,
    pack: timer?.section("target/pack", { lane: "target", role: "packing" }) ?? untimed,
    full: timer?.section("queue/full", { lane: "target", role: "wait", waitsFor: "drafter" }) ?? untimed,
    wait: timer?.section("queue/wait", { role: "wait", waitsFor: "target" }) ?? untimed,
  };
}
