export { attachTimer } from "./attachTimer.ts";
export { overlapLanes } from "./overlapLanes.ts";
export { receiveTimer, type ReceivedTimer } from "./receiveTimer.ts";
export { shareTimer, type SharedTimer } from "./shareTimer.ts";
export { streamTimer, type StreamedTimer } from "./streamTimer.ts";
