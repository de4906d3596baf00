export { attachTimer } from "./attachTimer.ts";
export { shareTimer, type SharedTimer } from "./shareTimer.ts";
