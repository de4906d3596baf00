export { causalRowRanges, type CausalRowRangesOptions } from "./causalRowRanges.ts";
export { denseFromRowRanges } from "./denseFromRowRanges.ts";
export { dflashContextRanges, dflashRowRanges, type DflashOptions } from "./dflashRowRanges.ts";
export type { RowRanges } from "./rowRanges.ts";
