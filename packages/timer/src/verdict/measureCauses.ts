import type { ReportSnapshot, SectionReport } from "../report.ts";
import type { JudgedStep } from "./judgedStep.ts";
import { measureNewShapes } from "./measureNewShapes.ts";

/** Milliseconds of the steps by cause; a lane's cause is its name and "-bound". */
export type CauseTimes = Map<string, number>;

/** What a verdict may know of the engine. */
export interface EngineFacts {
  /** Host time of one dispatch, µs. */
  readonly dispatchUs?: number;
}

/** Causes of sections with a role, by the role. */
const ROLES: Readonly<Record<string, string>> = {
  data: "data-bound",
  packing: "packing",
  "block-mask": "block-mask",
  optimizer: "optimizer",
  log: "log",
  checkpoint: "checkpoint",
};
const roleCause = ({ role }: SectionReport): string | undefined => (role === null ? undefined : ROLES[role]);
/** Cause that is a lane. */
const bound = (lane: string): string => `${group(lane)}-bound`;
/** Lanes of one kind are told apart by an index in brackets. */
const group = (lane: string): string => lane.replace(/\[.*\]$/, "");

/** Splits the own lane's time in all steps among the causes that may have taken it. Causes may overlap: each is what would be won without it, so at most the step. */
export function measureCauses(steps: readonly JudgedStep[], facts: EngineFacts = {}): CauseTimes {
  const times: CauseTimes = new Map();
  const avoidable = steps.some(isReady) ? avoidableWaiting(steps) : 0;
  const newShapes = measureNewShapes(steps);
  for (const step of steps) {
    const add = (ms: number, cause: string): void =>
      void times.set(cause, (times.get(cause) ?? 0) + Math.min(ms, step.report.ms));
    measureOnce(step, isReady(step) ? avoidable : 0, facts).forEach(add);
    add(newShapes(step), "allocator-churn");
  }
  return times;
}

/** What steps came to, and of what else: whoever judges a running timer asks for the same steps again and again. */
const measured = new WeakMap<JudgedStep, EngineFacts & { readonly avoidable: number; readonly times: CauseTimes }>();

function measureOnce(step: JudgedStep, avoidable: number, facts: EngineFacts): CauseTimes {
  const known = measured.get(step);
  if (known?.avoidable === avoidable && known.dispatchUs === facts.dispatchUs) return known.times;
  const times = measureStep(step, avoidable, facts);
  measured.set(step, { ...facts, avoidable, times });
  return times;
}

/** Whether there was something in the queue when the own lane began to wait for it. */
const isReady = ({ ready }: JudgedStep): boolean => (ready ?? 0) >= 1;

function measureStep(step: JudgedStep, avoidable: number, { dispatchUs }: EngineFacts): CauseTimes {
  const times: CauseTimes = new Map();
  const add: Add = (cause, ms) => {
    if (cause !== undefined) times.set(cause, (times.get(cause) ?? 0) + Math.max(0, ms));
  };
  const { report, late = {} } = step;
  const own = Object.keys(report.lanes)[0]!;
  const blocking = Object.values(report.sections).filter((section) => rootLane(report, section) === own);
  for (const section of blocking) add(roleCause(section), section.selfMs ?? 0);
  addWaits(report, own, avoidable, add);
  addEngine(step, blocking, add, dispatchUs);
  for (const { gcMs, stallMs } of Object.values(late)) {
    add("gc", gcMs ?? 0);
    add("event-loop", stallMs ?? 0);
  }
  add("residual", report.residualMs);
  const { busyMs, overlapMs } = report.lanes[own]!;
  const roles = sum(blocking, (section) => (section.lane === own && roleCause(section) ? section.selfMs : 0));
  add(bound(own), busyMs - roles - Math.max(0, ...Object.values(overlapMs)));
  return times;
}

type Add = (cause: string | undefined, ms: number) => void;

/** Lane at the top of the tree that a section ran in. */
function rootLane(report: ReportSnapshot, { lane, parent }: SectionReport): string {
  return parent === null ? lane : rootLane(report, report.sections[parent]!);
}

const sum = (sections: readonly SectionReport[], of: (section: SectionReport) => number | null): number =>
  sections.reduce((total, section) => total + (of(section) ?? 0), 0);

/** Part of the own lane's waiting that would not be if every lane worked all the time: what the busiest one needs longer than the own lane works is waited for anyway, and all that is made inside the wait. */
function avoidableWaiting(steps: readonly JudgedStep[]): number {
  const [first] = steps;
  if (first === undefined) return 0;
  const [own, ...others] = Object.keys(first.report.lanes);
  const total = (of: (report: ReportSnapshot) => number): number =>
    steps.reduce((ms, { report }) => ms + of(report), 0);
  const waitedMs = total(({ lanes }) => lanes[own!]!.waitMs);
  const busyMs = Math.max(0, ...others.map((name) => total(({ lanes }) => lanes[name]!.busyMs)));
  const isInline = steps.some(({ report }) => others.some((name) => runsInside(report, name, own!)));
  if (isInline || waitedMs === 0) return 0;
  const workedMs = total(({ ms }) => ms) - waitedMs;
  return Math.min(1, Math.max(0, 1 - (busyMs - workedMs) / waitedMs));
}

/** Whether a lane's sections run inside those of the own lane. */
function runsInside(report: ReportSnapshot, lane: string, own: string): boolean {
  return (
    (report.lanes[lane]!.overlapMs[own] ?? 0) === 0 &&
    Object.values(report.sections).some(
      (section) => section.lane === lane && section.parent !== null && rootLane(report, section) === own,
    )
  );
}

/**
 * Whom the own lane waited for. While a lane that it waits for is busy, that lane is the cause, unless it has time to spare: then the two take turns that they need not take.
 * While that lane waits itself, the cause is whatever it waits for.
 */
function addWaits(report: ReportSnapshot, own: string, avoidable: number, add: Add): void {
  const all = Object.values(report.sections);
  const others = Object.entries(report.lanes).filter(([name]) => name !== own);
  const forNobody = sum(all, (section) =>
    section.lane === own && section.role === "wait" && section.waitsFor === null ? section.selfMs : 0,
  );
  let waited = report.lanes[own]!.waitMs - forNobody;
  add("queue", avoidable * waited);
  waited *= 1 - avoidable;

  for (const kind of new Set(others.map(([name]) => group(name)))) {
    const lanes = others.filter(([name]) => group(name) === kind);
    const slowest = lanes.reduce((a, b) => (b[1].busyMs > a[1].busyMs ? b : a));
    const [name, { busyMs, overlapMs }] = slowest;
    const sections = all.filter((section) => section.lane === name);
    const overlap = overlapMs[own] ?? 0;
    const isInline = runsInside(report, name, own);
    // Reading ahead is what would help a lane of data either way.
    const isData = sections.every(({ role }) => role === "data");
    const blamed = Math.min(Math.max(0, waited), busyMs - overlap);
    waited -= blamed;
    const spare = isInline || isData ? 0 : Math.min(blamed, Math.max(0, report.ms - busyMs));
    const waitsFor = (lane: string): number =>
      sum(sections, (section) =>
        section.role === "wait" && group(section.waitsFor ?? "") === group(lane) ? section.selfMs : 0,
      );
    const held = waitsFor(own);
    add(held >= spare / 2 ? "queue" : "lost-overlap", spare);
    const work = blamed - spare;
    if (!isInline)
      for (const section of sections) add(roleCause(section), busyMs > 0 ? (work * (section.selfMs ?? 0)) / busyMs : 0);
    const roleMs = sum(sections, (section) => (roleCause(section) ? section.selfMs : 0));
    const rest =
      lanes.length > 1
        ? (busyMs * lanes.length - lanes.reduce((total, [, lane]) => total + lane.busyMs, 0)) / (lanes.length - 1)
        : 0;
    const straggling = lanes.length > 1 ? Math.min(work, rest) : 0;
    add("straggler", straggling);
    add(bound(name), busyMs > 0 ? (work - straggling) * (1 - roleMs / busyMs) : 0);
    for (const [other] of others) {
      if (group(other) === kind) continue;
      const chained = Math.min(Math.max(0, waited), waitsFor(other));
      add(bound(other), chained);
      waited -= chained;
    }
    const queued = Math.min(Math.max(0, waited), held);
    add("queue", queued);
    waited -= queued;
  }
  // What no lane that is known accounts for.
  for (const { role, lane, waitsFor, ms } of all) {
    if (lane !== own || role !== "wait" || waitsFor === null) continue;
    if (others.some(([name]) => group(name) === group(waitsFor))) continue;
    const away = Math.min(Math.max(0, waited), ms ?? 0);
    add(bound(waitsFor), away);
    waited -= away;
  }
  add("queue", waited);
}

/** What the engine cost the host: waiting, or dispatching when its device has little to do. */
function addEngine(
  { report, late = {} }: JudgedStep,
  blocking: readonly SectionReport[],
  add: Add,
  dispatchUs: number | undefined,
): void {
  const { causes } = report;
  if (!causes) return;
  const known = blocking.filter((section) => section.parent === null && late[section.name]?.deviceMs != null);
  const deviceMs = known.length > 0 ? sum(known, ({ name }) => late[name]!.deviceMs ?? null) : null;
  const hostMs = sum(known, ({ ms }) => ms);
  const syncMs = causes.syncMs ?? 0;
  // A wait in which the device works is no loss: it would have taken as long without.
  if (deviceMs === null || deviceMs < 0.7 * report.ms) add("sync-wait", Math.max(0, syncMs - (deviceMs ?? 0)));
  if (deviceMs !== null && deviceMs < 0.5 * hostMs) add("launch-bound", hostMs - Math.max(deviceMs, syncMs));
  else if (deviceMs === null && dispatchUs !== undefined)
    add("launch-bound", ((causes.kernels ?? 0) * dispatchUs) / 1000);
}
