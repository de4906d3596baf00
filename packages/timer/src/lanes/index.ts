export { attachTimer } from "./attachTimer.ts";
export { overlapLanes } from "./overlapLanes.ts";
export { shareTimer, type SharedTimer } from "./shareTimer.ts";
