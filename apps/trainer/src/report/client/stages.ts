import type { RunData, SectionData, Series } from "../runData.ts";

/** A part of the step's wall time, and the parts that it has in turn. */
export interface Stage {
  readonly name: string;
  /** For the colour: where the work belongs. */
  readonly family: "data" | "target" | "wait" | "drafter" | "other";
  /** Time in it and what lies inside it, over the run; ms. */
  readonly ms: number;
  readonly p50: number | null;
  readonly p99: number | null;
  /** Mean ms a step, by bin. */
  readonly series: Series;
  readonly parts: readonly Stage[];
}

/**
 * The parts that make up the steps, in the order in which they run: waiting is opened up, so that work done meanwhile stands for
 * itself; with the rest that is in no section they add up to the wall time.
 */
export function stagesOf(run: RunData): Stage[] {
  const own = run.sections.filter(({ beside }) => !beside);
  const isOpen = (name: string | null): boolean =>
    name === null || own.some((section) => section.name === name && section.role === "wait");
  const top = own.filter(({ parent }) => isOpen(parent)).map((section) => toStage(run, own, section));
  const rest: Stage = {
    name: "in no section",
    family: "other",
    ms: run.residualMs,
    p50: null,
    p99: null,
    series: run.residual,
    parts: [],
  };
  const order = ["data", "target", "wait", "drafter", "other"];
  return [...top, rest]
    .filter(({ ms }) => ms > 0)
    .toSorted((a, b) => order.indexOf(a.family) - order.indexOf(b.family));
}

/** What runs beside the steps, in other threads. */
export function stagesBeside(run: RunData): Stage[] {
  const beside = run.sections.filter((section) => section.beside);
  const isTop = ({ parent }: SectionData): boolean => !beside.some(({ name }) => name === parent);
  return beside
    .filter(isTop)
    .map((section) => toStage(run, beside, section))
    .filter(({ ms }) => ms > 0);
}

/** Shares of the time below which a stage, in all runs, is put together with its like. */
const smallest = 0.005;

/** Puts the stages that are small in every run together in one. */
export function foldSmall(runs: readonly RunData[], stages: readonly (readonly Stage[])[]): Stage[][] {
  const large = new Set(
    stages.flatMap((own, i) => own.filter(({ ms }) => ms >= smallest * runs[i]!.totalMs).map(({ name }) => name)),
  );
  return stages.map((own, i) => {
    const small = own.filter(({ name }) => !large.has(name)).toSorted((a, b) => b.ms - a.ms);
    if (small.length < 2) return [...own];
    const together: Stage = {
      name: "small sections",
      family: "other",
      ms: small.reduce((sum, { ms }) => sum + ms, 0),
      p50: null,
      p99: null,
      series: runs[i]!.from.map((_, bin) => small.reduce((sum, { series }) => sum + (series[bin] ?? 0), 0)),
      parts: small,
    };
    return [...own.filter(({ name }) => large.has(name)), together];
  });
}

function toStage(run: RunData, sections: readonly SectionData[], section: SectionData): Stage {
  // What happens during a wait is shown for itself.
  const inside = section.role === "wait" ? [] : sections.filter(({ parent }) => parent === section.name);
  const parts = inside.map((part) => toStage(run, sections, part)).toSorted((a, b) => b.ms - a.ms);
  const self = run.selfMs[section.name] ?? [];
  return {
    name: section.name,
    family: familyOf(section),
    ms: section.selfMs + parts.reduce((sum, { ms }) => sum + ms, 0),
    p50: section.role === "wait" ? null : section.p50,
    p99: section.role === "wait" ? null : section.p99,
    series: run.from.map((_, bin) => (self[bin] ?? 0) + parts.reduce((sum, { series }) => sum + (series[bin] ?? 0), 0)),
    parts,
  };
}

function familyOf({ name, role }: SectionData): Stage["family"] {
  if (role === "wait") return "wait";
  if (/^data\b/.test(name)) return "data";
  if (/^(target|queue)\//.test(name)) return "target";
  return name.startsWith("drafter/") ? "drafter" : "other";
}
