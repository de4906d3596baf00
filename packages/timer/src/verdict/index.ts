export { createJudge, type Judge, type JudgeOptions } from "./createJudge.ts";
export { findBottleneck, type Verdict } from "./findBottleneck.ts";
export type { JudgedStep } from "./judgedStep.ts";
