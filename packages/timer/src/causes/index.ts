export type { CauseProbe, Causes } from "./causeProbe.ts";
export { observeCauses, type ObserveCausesOptions } from "./observeCauses.ts";
