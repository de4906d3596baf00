export { observeEventLoop, type EventLoopOptions } from "./observeEventLoop.ts";
export { observeGc } from "./observeGc.ts";
export type { CpuProfile, FunctionTime, SectionProfile, StepsProfile } from "./labelProfile.ts";
export { profileSteps, type ProfileStepsOptions } from "./profileSteps.ts";
export { publishTimer } from "./publishTimer.ts";
export { type MemoryUse, readMemory } from "./readMemory.ts";
export { createThreadMeter, type ThreadCpu } from "./threadMeter.ts";
