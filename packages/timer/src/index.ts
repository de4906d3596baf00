export type { Report, ReportSnapshot, Section, SectionOptions, SectionTimes, Timer } from "./timer.ts";
