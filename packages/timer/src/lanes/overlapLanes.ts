import type { Timer } from "../timer.ts";
import { laneReplayOf } from "./laneReplay.ts";

/**
 * Lets the lanes of a timer overlap: sections of different lanes of this thread that are open together both count, and the report tells how long which lanes were busy together.
 * Without it each instant goes to the section that began last, whatever its lane. A run of another lane inside one section of the own lane is still a child there, and counts once.
 * To be called before the first step; `attachTimer` and `observeCauses` do it too.
 */
export function overlapLanes(timer: Timer): void {
  laneReplayOf(timer);
}
