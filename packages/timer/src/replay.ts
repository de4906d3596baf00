import type { Causes } from "./causes/causeProbe.ts";
import type { LaneReport } from "./report.ts";

/** Takes in recorded boundaries and counts them into step totals. */
export interface Replay {
  /** Boundaries taken in so far, modulo 2^32. */
  tail: number;
  /** Takes in boundaries up to the number `head`; true when that closed a step. */
  run(head: number): boolean;
  /** Forgets what is open: the timer was off. Until the end of the next step calls may lack a partner. */
  reset(): void;
  /** What the lanes did in the step that is closed. */
  lanes(): Record<string, LaneReport>;
  /** What the engine did in a section in it; null when nobody observes it. */
  causes?(slot: number): Causes | null;
  /** Whether boundaries of a section were lost in it. */
  lost?(slot: number): boolean;
  /** Makes room for the next step. */
  clear(): void;
}
