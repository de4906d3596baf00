export type { RowRanges } from "./rowRanges.ts";
