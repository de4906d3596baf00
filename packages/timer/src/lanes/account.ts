import type { CauseSums } from "../causes/causeSums.ts";
import { BEGIN, END, LAP, SETTLE, START, STEP, STEP_END, STOP } from "../recording.ts";
import { COUNT, OVERLAPPING, PARENT, ROOT, STEP_SLOT, type StepTotals, STRIDE, TOTAL } from "../stepTotals.ts";
import { createLaneStacks, DEPTH, LAPPED, type Moment, SLOT } from "./laneStacks.ts";
import type { LaneTotals } from "./laneTotals.ts";
import { createOpenSections } from "./openSections.ts";
import { OWN, type Registry, WORKS } from "./registry.ts";

/** Turns boundaries, in time order, into step totals. */
export interface Account {
  /** Time of the boundary that comes next, ns; one of another thread can be seen late: time stands still for it. */
  moveTo(time: number): void;
  /** Takes in a boundary; true when it closed a step. */
  apply(kind: number, slot: number): boolean;
  /** Takes in a start and the stop right after it, the commonest, in one go; false when there is more to them. */
  leaf(slot: number, start: number, stop: number): boolean;
  /** Closes what is open on a lane, uncounted. */
  forget(lane: number): void;
  /** Closes everything, the step too: the timer was off. Until the end of the next step calls may lack a partner. */
  reset(): void;
}

/** How an account is made. */
export interface AccountOptions {
  registry: Registry;
  totals: StepTotals;
  laneTotals: LaneTotals;
  causes: CauseSums;
  /** Called on a call without a partner, after it was counted. */
  refuse?: ((slot: number, kind: number) => void) | undefined;
}

/** Makes an account. A step lasts from the first own section after the step before it; its totals stand until they are cleared. */
export function createAccount({ registry, totals, laneTotals, causes, refuse }: AccountOptions): Account {
  const { infos, lanes, laneOf, kindOf } = registry;
  const { sections } = totals;
  const now = new Float64Array(1);
  const moment: Moment = { now, counts: false };
  const stacks = createLaneStacks(registry, totals, laneTotals, moment);
  const open = createOpenSections(registry, totals, causes, now);
  const { depths, tokens } = stacks;
  let inStep = false;
  let settling = false;
  /** Depth of the own lane when the step began. */
  let carried = 1;

  function unbalanced(slot: number, kind: number): void {
    if (settling) return;
    totals.unbalanced += 1;
    refuse?.(slot, kind);
  }

  function begin(): void {
    if (moment.counts) return;
    moment.counts = true;
    totals.start = now[0]!;
    causes.keep(STEP_SLOT);
    stacks.begin();
    open.begin();
  }

  function push(slot: number, flag: number): void {
    const lane = laneOf[slot]!;
    if (lane === OWN) begin();
    if (depths[lane] === DEPTH) return unbalanced(slot, START);
    stacks.push(lane, slot, flag);
    open.open(slot);
  }

  function pop(slot: number, kind: number): void {
    const lane = laneOf[slot]!;
    const at = stacks.find(lane, slot);
    if (at < 0) return unbalanced(slot, kind);
    while (depths[lane]! - 1 > at && stacks.top(lane) > SLOT) pop(stacks.top(lane) & SLOT, SETTLE);
    if (depths[lane]! - 1 > at && kind === STOP) unbalanced(slot, kind);
    stacks.remove(lane, at);
    open.close(slot, moment.counts);
  }

  function lap(slot: number): void {
    const lane = laneOf[slot]!;
    if (depths[lane]! > 0 && stacks.top(lane) > SLOT) pop(stacks.top(lane) & SLOT, SETTLE);
    push(slot, LAPPED);
  }

  function token(slot: number, kind: number): void {
    const lane = laneOf[slot]!;
    if (kind === END && open.depths[slot] === 0) return unbalanced(slot, kind);
    const at = slot * STRIDE;
    if (sections[at + PARENT] === 0) sections[at + PARENT] = ROOT;
    sections[at + OVERLAPPING] = 1;
    if (lane !== OWN && kindOf[slot] === WORKS) {
      stacks.accrue(lane);
      tokens[lane]! += kind === BEGIN ? 1 : -1;
      stacks.setBusy(lane);
    }
    if (kind === BEGIN) open.open(slot);
    else open.close(slot, moment.counts);
  }

  function end(): void {
    while (depths[OWN]! > carried) {
      const frame = stacks.top(OWN);
      if (frame <= SLOT) unbalanced(frame, STEP_END);
      pop(frame & SLOT, SETTLE);
    }
    stacks.end();
    open.end();
    sections[STEP_SLOT * STRIDE + TOTAL] = now[0]! - totals.start;
    sections[STEP_SLOT * STRIDE + COUNT] = 1;
    causes.add(STEP_SLOT);
    moment.counts = inStep = settling = false;
  }

  function moveTo(time: number): void {
    if (time <= now[0]!) return;
    if (moment.counts && lanes.length > 1) stacks.pass(time - now[0]!);
    now[0] = time;
  }

  function forget(lane: number): void {
    for (let slot = STEP_SLOT + 1; slot < infos.length; slot += 1)
      while (laneOf[slot] === lane && open.depths[slot]! > 0) open.close(slot, false);
    stacks.clear(lane);
  }

  return {
    moveTo,
    apply(kind, slot) {
      if (kind === START) push(slot, 0);
      else if (kind <= SETTLE) pop(slot, kind);
      else if (kind === LAP) lap(slot);
      else if (kind <= END) token(slot, kind);
      else if (kind === STEP) {
        begin();
        carried = depths[OWN]!;
        inStep = true;
      } else if (inStep) {
        end();
        return true;
      }
      return false;
    },
    leaf(slot, start, stop) {
      if (lanes.length > 1 || !moment.counts || open.depths[slot]! > 0) return false;
      moveTo(start);
      sections[slot * STRIDE + TOTAL]! += stop - start;
      sections[slot * STRIDE + COUNT]! += 1;
      stacks.leaf(slot, stop);
      return true;
    },
    forget,
    reset() {
      moment.counts = inStep = false;
      settling = true;
      for (let lane = 0; lane < lanes.length; lane += 1) forget(lane);
    },
  };
}
