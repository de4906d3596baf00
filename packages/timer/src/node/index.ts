export { observeEventLoop, type EventLoopOptions } from "./observeEventLoop.ts";
export { observeGc } from "./observeGc.ts";
export { type CpuProfile, type FunctionTime, profileSteps, type ProfileStepsOptions, type SectionProfile, type StepsProfile } from "./profileSteps.ts";
export { publishTimer } from "./publishTimer.ts";
export { type MemoryUse, readMemory } from "./readMemory.ts";
export { createThreadMeter, type ThreadCpu } from "./threadMeter.ts";
