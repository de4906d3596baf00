export { readSpans } from "./readSpans.ts";
export type { Span, StepSpans } from "./span.ts";
export { type SlowStep, watchSlowSteps } from "./watchSlowSteps.ts";
