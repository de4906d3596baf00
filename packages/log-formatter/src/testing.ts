export { checkFormatter } from "./testing/checkFormatter.ts";
export { hostileRecords } from "./testing/hostileRecords.ts";
export { killWhileWriting, type Victim } from "./testing/killWhileWriting.ts";
