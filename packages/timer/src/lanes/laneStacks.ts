import { PARENT, ROOT, SELF, type StepTotals, STRIDE } from "../stepTotals.ts";
import { createLaneOverlap } from "./laneOverlap.ts";
import type { LaneTotals } from "./laneTotals.ts";
import { MAX_LANES, OWN, type Registry, WAITS, WORKS } from "./registry.ts";

/** Sections that a lane can have open at a time. */
export const DEPTH = 64;
/** A frame is a slot, and a flag when `lap` opened it. */
export const SLOT = 0xffff;
export const LAPPED = 0x1_0000;

/** Where a replay stands. */
export interface Moment {
  /** Time of the boundary at hand, ns: in an array, since a number that is passed along may be boxed. */
  readonly now: Float64Array;
  /** Whether time counts: a step has begun. */
  counts: boolean;
}

/** Open sections by lane. */
export interface LaneStacks {
  readonly depths: Int32Array;
  /** Overlapping runs that are open, by lane. */
  readonly tokens: Int32Array;
  top(lane: number): number;
  /** Place of a section in its lane's stack, or -1. */
  find(lane: number, slot: number): number;
  push(lane: number, slot: number, flag: number): void;
  remove(lane: number, at: number): void;
  /** A whole run of a section of the own lane, from now to `stop`, ns. */
  leaf(slot: number, stop: number): void;
  /** Gives the time up to now to whatever is on top of a lane. */
  accrue(lane: number): void;
  /** After a change of a lane's tokens. */
  setBusy(lane: number): void;
  /** Time passes. */
  pass(ns: number): void;
  /** A step begins: time counts from now. */
  begin(): void;
  /** It ends. */
  end(): void;
  /** Empties a lane. */
  clear(lane: number): void;
}

/**
 * Each instant of a lane goes to the section on top of its stack, so a lane's step is the sum of its parts whatever was called.
 * A run of another lane of this thread that begins and ends in one section of the own lane is a child there: inline work counts once.
 * An own section that interrupts it in a wait takes its time from both. One that comes where the own lane works shows that the two overlap.
 */
export function createLaneStacks(
  { lanes, kindOf, isLocal }: Registry,
  { sections }: StepTotals,
  { waits, busySets }: LaneTotals,
  moment: Moment,
): LaneStacks {
  const { now } = moment;
  const stacks = new Int32Array(MAX_LANES * DEPTH);
  const depths = new Int32Array(MAX_LANES);
  const tokens = new Int32Array(MAX_LANES);
  const accruedTo = new Float64Array(MAX_LANES);
  const overlap = createLaneOverlap(busySets);
  /** Lane that may be running inside the own one, or -1; the own lane's depth when that began; the section that ran first, if it had not yet in this step. */
  let inline = -1;
  let inlineDepth = 0;
  let inlineFirst = 0;
  /** Time that the inline lane took from the own section around it, ns. */
  const taken = new Float64Array(1);

  const top = (lane: number): number => stacks[lane * DEPTH + depths[lane]! - 1]!;
  const isInterrupted = (): boolean => depths[OWN]! > inlineDepth;

  function accrue(lane: number): void {
    const ns = now[0]! - accruedTo[lane]!;
    accruedTo[lane] = now[0]!;
    if (!moment.counts || depths[lane] === 0 || (lane === inline && isInterrupted())) return;
    const slot = top(lane) & SLOT;
    sections[slot * STRIDE + SELF]! += ns;
    if (kindOf[slot] === WAITS && tokens[lane] === 0) waits[lane]! += ns;
  }

  function setBusy(lane: number): void {
    if (lanes.length === 1) return;
    const works = tokens[lane]! > 0 || (depths[lane]! > 0 && kindOf[top(lane) & SLOT] === WORKS);
    overlap.set(lane, works && !(lane === inline && isInterrupted()));
    if (lane === OWN && inline >= 0) setBusy(inline);
  }

  function beginInline(lane: number, first: number): void {
    accrue(OWN);
    inline = lane;
    inlineDepth = depths[OWN]!;
    inlineFirst = first;
    if (kindOf[top(OWN) & SLOT] === WORKS) overlap.hold();
  }

  /** Gives the time since the own lane's last boundary to the inline lane. */
  function handOver(): void {
    const ns = now[0]! - accruedTo[OWN]!;
    accruedTo[OWN] = now[0]!;
    waits[OWN]! += ns;
    taken[0]! += ns;
  }

  function endInline(asChild: boolean): void {
    const around = stacks[inlineDepth - 1]! & SLOT;
    if (!asChild) sections[around * STRIDE + SELF]! += taken[0]!;
    else {
      if (!isInterrupted()) handOver();
      if (inlineFirst > 0) sections[inlineFirst * STRIDE + PARENT] = around || ROOT;
    }
    overlap.settle(!asChild, lanes.length);
    inline = -1;
    taken[0] = 0;
  }

  depths[OWN] = 1;
  return {
    depths,
    tokens,
    top,
    find(lane, slot) {
      let at = depths[lane]! - 1;
      while (at >= 0 && (stacks[lane * DEPTH + at]! & SLOT) !== slot) at -= 1;
      return at;
    },
    push(lane, slot, flag) {
      if (lane === OWN && inline >= 0 && !isInterrupted()) {
        accrue(inline);
        if (kindOf[top(OWN) & SLOT] === WAITS) handOver();
        else endInline(false);
      }
      accrue(lane);
      const depth = depths[lane]!;
      const parent = slot * STRIDE + PARENT;
      const isFirst = moment.counts && sections[parent] === 0;
      if (isFirst) sections[parent] = (depth > 0 && top(lane) & SLOT) || ROOT;
      if (depth === 0 && moment.counts && inline < 0 && isLocal[lane] === 1) beginInline(lane, isFirst ? slot : 0);
      stacks[lane * DEPTH + depth] = slot | flag;
      depths[lane] = depth + 1;
      setBusy(lane);
    },
    remove(lane, at) {
      if (lane === OWN && inline >= 0) {
        accrue(inline);
        if (at < inlineDepth) endInline(false);
      }
      accrue(lane);
      const depth = depths[lane]! - 1;
      for (let i = lane * DEPTH + at; i < lane * DEPTH + depth; i += 1) stacks[i] = stacks[i + 1]!;
      depths[lane] = depth;
      if (lane === inline && depth === 0) endInline(true);
      setBusy(lane);
    },
    leaf(slot, stop) {
      accrue(OWN);
      const parent = slot * STRIDE + PARENT;
      if (sections[parent] === 0) sections[parent] = top(OWN) & SLOT || ROOT;
      const ns = stop - now[0]!;
      sections[slot * STRIDE + SELF]! += ns;
      if (kindOf[slot] === WAITS) waits[OWN]! += ns;
      now[0] = accruedTo[OWN] = stop;
    },
    accrue,
    setBusy,
    pass(ns) {
      overlap.pass(ns);
    },
    begin() {
      accruedTo.fill(now[0]!);
    },
    end() {
      for (let lane = 0; lane < lanes.length; lane += 1) accrue(lane);
      if (inline >= 0) endInline(false);
    },
    clear(lane) {
      depths[lane] = lane === OWN ? 1 : 0;
      tokens[lane] = 0;
      if (lane === inline) endInline(false);
      setBusy(lane);
    },
  };
}
