export { checkFormatter } from "./testing/checkFormatter.ts";
export { hostileRecords } from "./testing/hostileRecords.ts";
