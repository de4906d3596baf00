/** Kinds of recorded events; an event's code is `slot * 4 + kind`. */
export const START = 0;
export const STOP = 1;
/** Step boundaries; their slot is 0. */
export const STEP = 2;
export const END = 3;

/** Layout of a section's accumulators. */
export const STRIDE = 4;
const TOTAL = 0;
const SELF = 1;
const COUNT = 2;
const PARENT = 3;

const DEPTH = 64;
const OWN = 0;

/** What one step came to. Times in ns; lane 0 is the timer's own. */
export interface StepTotals {
  start: number;
  ns: number;
  residual: number;
  unbalanced: number;
  /** Per slot: time open, time on top, completed calls, and where it first ran: 0 not yet, 1 on top, else parent slot + 2. */
  sections: Float64Array;
  /** Per lane: time waiting; the own lane's includes what other lanes did inside it. */
  waits: Float64Array;
  /** Time by the set of lanes that were busy, a bit a lane. */
  busySets: Float64Array;
}

/** Turns recorded boundaries, in time order, into step totals. */
export interface Replay {
  addSection(slot: number, lane: number, wait: boolean): void;
  addLane(): void;
  /** Returns true when the event closed a step, whose totals then stand in `closed`. */
  event(code: number, t: number): boolean;
  /** Forgets what is open: the timer was off. */
  reset(): void;
  /** Totals of the last closed step. */
  readonly closed: StepTotals;
}

/**
 * Each instant of a lane goes to the section on top of its stack, and to the residual when there is none, so a lane's step is the sum of its parts whatever was called.
 * A section of another lane that runs wholly within one stretch of the own lane is a child there (inline work counts once); one that overlaps several runs beside it.
 */
export function createReplay(): Replay {
  let laneOf = new Int32Array(0);
  let isWait = new Uint8Array(0);
  /** Per slot: how often open, and since when. */
  let openDepth = new Int32Array(0);
  let openSince = new Float64Array(0);
  const stacks: Int32Array[] = [];
  const depths: number[] = [];
  const accruedTo: number[] = [];

  let totals = emptyTotals();
  let closed = emptyTotals();
  let inWindow = false;
  let inStep = false;
  /** Frames of the own lane that were open when the step began. */
  let carried = 0;
  let last = 0;
  let busy = 0;
  /** Lane that the own lane may be running inline, or -1, and the time by busy set since it began. */
  let inline = -1;
  let inlineIsFirst = false;
  let inlineSets = new Float64Array(1);
  let adopted = 0;
  let ownSelf = 0;

  function advance(t: number): void {
    if (inWindow) {
      if (inline < 0) totals.busySets[busy]! += t - last;
      else inlineSets[busy & ~1]! += t - last;
    }
    last = t;
  }

  function accrue(lane: number, t: number): void {
    const dt = t - accruedTo[lane]!;
    accruedTo[lane] = t;
    const depth = depths[lane]!;
    if (depth === 0 || !inWindow) return;
    const slot = stacks[lane]![depth - 1]!;
    totals.sections[slot * STRIDE + SELF]! += dt;
    if (lane === OWN) ownSelf += dt;
    if (isWait[slot]) totals.waits[lane]! += dt;
  }

  function setBusy(lane: number): void {
    const depth = depths[lane]!;
    if (depth > 0 && !isWait[stacks[lane]![depth - 1]!]) busy |= 1 << lane;
    else busy &= ~(1 << lane);
  }

  function endInline(isChild: boolean): void {
    const own = isChild ? 0 : busy & 1;
    for (let set = 0; set < inlineSets.length; set += 1) totals.busySets[set | own]! += inlineSets[set]!;
    inlineSets.fill(0);
    inline = -1;
  }

  function openWindow(t: number): void {
    inWindow = true;
    last = t;
    totals.start = t;
    accruedTo.fill(t);
    for (let slot = 0; slot < openSince.length; slot += 1) if (openDepth[slot]) openSince[slot] = t;
  }

  /** The first one stays: so parents never form a cycle. */
  function setParent(slot: number, parent: number): void {
    const field = slot * STRIDE + PARENT;
    if (totals.sections[field] === 0) totals.sections[field] = parent;
  }

  function push(slot: number, t: number): void {
    const lane = laneOf[slot]!;
    if (lane === OWN && !inWindow) openWindow(t);
    advance(t);
    if (lane === OWN && inline >= 0) endInline(false);
    accrue(lane, t);
    const depth = depths[lane]!;
    if (depth === DEPTH) {
      totals.unbalanced += 1;
      return;
    }
    const stack = stacks[lane]!;
    if (lane !== OWN && depth === 0 && inWindow && inline < 0) {
      accrue(OWN, t);
      inline = lane;
      inlineIsFirst = totals.sections[slot * STRIDE + PARENT] === 0;
    }
    setParent(slot, depth === 0 ? 1 : stack[depth - 1]! + 2);
    stack[depth] = slot;
    depths[lane] = depth + 1;
    openDepth[slot]! += 1;
    if (openDepth[slot] === 1) openSince[slot] = t;
    setBusy(lane);
  }

  function pop(slot: number, t: number): void {
    const lane = laneOf[slot]!;
    const stack = stacks[lane]!;
    const depth = depths[lane]!;
    const at = stack.subarray(0, depth).lastIndexOf(slot);
    if (at !== depth - 1 || at < 0) totals.unbalanced += 1;
    if (at < 0) return;
    advance(t);
    if (lane === OWN && inline >= 0) endInline(false);
    accrue(lane, t);
    stack.copyWithin(at, at + 1, depth);
    depths[lane] = depth - 1;
    openDepth[slot]! -= 1;
    const field = slot * STRIDE;
    if (inWindow) {
      totals.sections[field + COUNT]! += 1;
      if (openDepth[slot] === 0) totals.sections[field + TOTAL]! += t - openSince[slot]!;
    }
    setBusy(lane);
    if (lane === inline && depth === 1) {
      const dt = t - accruedTo[OWN]!;
      accruedTo[OWN] = t;
      adopted += dt;
      totals.waits[OWN]! += dt;
      endInline(true);
      if (inlineIsFirst && depths[OWN]! > 0) totals.sections[field + PARENT] = stacks[OWN]![depths[OWN]! - 1]! + 2;
    }
  }

  function closeStep(t: number): void {
    while (depths[OWN]! > carried) {
      totals.unbalanced += 1;
      pop(stacks[OWN]![depths[OWN]! - 1]!, t);
    }
    advance(t);
    if (inline >= 0) endInline(false);
    for (let lane = 0; lane < depths.length; lane += 1) accrue(lane, t);
    for (let slot = 0; slot < openSince.length; slot += 1) {
      if (!openDepth[slot]) continue;
      totals.sections[slot * STRIDE + TOTAL]! += t - openSince[slot]!;
      openSince[slot] = t;
    }
    totals.ns = t - totals.start;
    totals.residual = totals.ns - ownSelf - adopted;
    inWindow = inStep = false;
    ownSelf = adopted = 0;
    [totals, closed] = [closed, totals];
    totals.unbalanced = 0;
    totals.sections.fill(0);
    totals.waits.fill(0);
    totals.busySets.fill(0);
  }

  return {
    get closed() {
      return closed;
    },
    addLane() {
      stacks.push(new Int32Array(DEPTH));
      depths.push(0);
      accruedTo.push(last);
      inlineSets = grow(inlineSets, 1 << depths.length);
      for (const one of [totals, closed]) {
        one.waits = grow(one.waits, depths.length);
        one.busySets = grow(one.busySets, 1 << depths.length);
      }
    },
    addSection(slot, lane, wait) {
      laneOf = grow(laneOf, slot + 1);
      isWait = grow(isWait, slot + 1);
      openDepth = grow(openDepth, slot + 1);
      openSince = grow(openSince, slot + 1);
      for (const one of [totals, closed]) one.sections = grow(one.sections, (slot + 1) * STRIDE);
      laneOf[slot] = lane;
      isWait[slot] = wait ? 1 : 0;
    },
    event(code, t) {
      const slot = code >> 2;
      switch (code & 3) {
        case START:
          push(slot, t);
          return false;
        case STOP:
          pop(slot, t);
          return false;
        case STEP:
          if (!inWindow) openWindow(t);
          carried = depths[OWN]!;
          inStep = true;
          return false;
        default:
          if (!inStep) return false;
          closeStep(t);
          return true;
      }
    },
    reset() {
      depths.fill(0);
      openDepth.fill(0);
      busy = 0;
      inline = -1;
      inlineSets.fill(0);
      inWindow = inStep = false;
      ownSelf = adopted = 0;
      totals.sections.fill(0);
      totals.waits.fill(0);
      totals.busySets.fill(0);
    },
  };
}

function emptyTotals(): StepTotals {
  return {
    start: 0,
    ns: 0,
    residual: 0,
    unbalanced: 0,
    sections: new Float64Array(0),
    waits: new Float64Array(0),
    busySets: new Float64Array(1),
  };
}

function grow<A extends Int32Array | Uint8Array | Float64Array>(array: A, length: number): A {
  const larger = new (array.constructor as new (length: number) => A)(length);
  larger.set(array);
  return larger;
}
