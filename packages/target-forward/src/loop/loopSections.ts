import type { Section, Timer } from "@dflash/timer";

/** What a loop's sections are made with; undefined times nothing. */
export type LoopTimer = Pick<Timer, "section"> | undefined;
type LoopSection = Pick<Section, "time" | "add" | "begin">;

const nothing = { end: () => undefined, [Symbol.dispose]: () => undefined };
const untimed: LoopSection = { time: (fn) => fn(), add: () => undefined, begin: () => nothing };

/** The consumer's wait for the next batch. */
export const waitSection = (timer: LoopTimer): LoopSection =>
  timer?.section("queue/wait", { role: "wait", waitsFor: "target" }) ?? untimed;

/** Pulling the next batch of tokens. */
const dataSection = (timer: LoopTimer): LoopSection =>
  timer?.section("data", { lane: "data", role: "data" }) ?? untimed;

/**
 * What is timed when the target runs in the consumer's thread: inside its `queue/wait`, so that nothing counts twice although
 * these sections stand in lanes of their own.
 */
export const inlineSections = (
  timer: LoopTimer,
): Readonly<Record<"data" | "forward" | "pack" | "full", LoopSection>> => ({
  data: dataSection(timer),
  forward: timer?.section("target/forward", { lane: "target" }) ?? untimed,
  pack: timer?.section("target/pack", { lane: "target", role: "packing" }) ?? untimed,
  full: timer?.section("queue/full", { lane: "target", role: "wait", waitsFor: "drafter" }) ?? untimed,
});

/** What is timed here when the hidden states come from elsewhere: the copy to this thread's engine. */
export const aheadSections = (timer: LoopTimer): Readonly<Record<"data" | "receive", LoopSection>> => ({
  data: dataSection(timer),
  receive: timer?.section("queue/receive", { role: "packing" }) ?? untimed,
});
