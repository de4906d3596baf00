export { createStatistics, type Statistics, type Summary } from "./createStatistics.ts";
export type { Distribution } from "./histogram.ts";
export { mergeReports, type MergedReport, type Spread } from "./mergeReports.ts";
