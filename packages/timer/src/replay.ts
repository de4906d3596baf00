import { createCauseSums } from "./causeSums.ts";
import {
  BEGIN,
  CAUSES,
  END,
  HEADER,
  LAP,
  type Recording,
  SETTLE,
  START,
  STEP,
  STEP_END,
  STOP,
  WORK,
} from "./recording.ts";
import {
  COUNT,
  createStepTotals,
  MAX_LANES,
  MAX_SECTIONS,
  OVERLAPPING,
  PARENT,
  ROOT,
  SELF,
  STEP_SLOT,
  type StepTotals,
  STRIDE,
  TOTAL,
  WORK_FIELDS,
} from "./stepTotals.ts";

const OWN = 0;
const DEPTH = 64;
/** A frame is a slot, and a flag when `lap` opened it. */
const SLOT = 0xffff;
const LAPPED = 0x1_0000;

/** A recording on its way through a replay. */
export interface Track {
  readonly recording: Recording;
  /** Slots here by slots there, for another thread's recording. */
  readonly slots: readonly number[] | null;
  /** Boundaries replayed so far. */
  tail: number;
}

/** Turns recorded boundaries, in time order, into step totals. */
export interface Replay {
  /** A lane of this thread may run inside the own lane. */
  addLane(local: boolean): void;
  addSection(slot: number, lane: number, wait: boolean): void;
  /** Time of the boundary at a double of a recording, ns since the origin. */
  timeAt(recording: Recording, at: number): number;
  /** Time of a track's next boundary; work has none and goes first. */
  nextTime(track: Track): number;
  /** Replays a track up to its boundary number `end` or past the time `limit`; true when that closed a step. */
  run(track: Track, end: number, limit: number): boolean;
  /** Forgets what is open on some lanes, after some of their boundaries were lost. */
  lose(lanes: Iterable<number>, boundaries: number): void;
  /** Forgets everything: the timer was off. */
  reset(): void;
  /** Of the step closed last, until the next one begins. */
  readonly totals: StepTotals;
}

/** How a replay is made. */
export interface ReplayOptions {
  /** Reading of the clock that is time 0. */
  origin: bigint;
  /** Called on a call without a partner, after it was counted. */
  onUnbalanced?: ((slot: number, kind: number) => void) | undefined;
}

/**
 * Each instant of a lane goes to the section on top of its stack, so a lane's step is the sum of its parts whatever was called.
 * A section of another lane of this thread that runs wholly within one stretch of the own lane is a child there: inline work counts once.
 * One that overlaps several stretches runs beside them.
 */
export function createReplay({ origin, onUnbalanced }: ReplayOptions): Replay {
  const originHigh = Number(origin >> 32n);
  const originLow = Number(origin & 0xffff_ffffn);
  let sectionCount = 1;
  let laneCount = 0;
  const laneOf = new Uint8Array(MAX_SECTIONS);
  const isWait = new Uint8Array(MAX_SECTIONS);
  /** The step does neither. */
  const isWork = new Uint8Array(MAX_SECTIONS);
  const isLocal = new Uint8Array(MAX_LANES);
  /** Per section: how often open, and since when. */
  const openDepth = new Int32Array(MAX_SECTIONS);
  const openSince = new Float64Array(MAX_SECTIONS);
  /** Per lane. */
  const stacks = new Int32Array(MAX_LANES * DEPTH);
  const depths = new Int32Array(MAX_LANES);
  const openTokens = new Int32Array(MAX_LANES);
  const accruedTo = new Float64Array(MAX_LANES);
  /** Time by busy set while another lane may be running inside the own one. */
  const inlineSets = new Float64Array(1 << MAX_LANES);
  /** Time of the boundary at hand: in an array, since a number that is passed along may be boxed. */
  const now = new Float64Array(1);

  const totals = createStepTotals();
  const { sections, waits, busySets } = totals;
  const causes = createCauseSums(totals.causes);
  /** As many of them as are used. */
  let usedSections = sections.subarray(0, STRIDE);
  let usedSets = busySets.subarray(0, 1);
  /** The totals are still those of the step that closed last. */
  let stale = false;
  /** Sections that are open. */
  let openCount = 0;
  let inWindow = false;
  let inStep = false;
  /** From being switched on to the end of the next step, calls may lack a partner. */
  let settling = false;
  /** Depth of the own lane when the step began. */
  let carried = 1;
  let busy = 0;
  /** Lane that may be running inside the own one, or -1. */
  let inline = -1;
  let inlineIsFirst = false;

  function unbalanced(slot: number, kind: number): void {
    if (settling) return;
    freshen();
    totals.unbalanced += 1;
    onUnbalanced?.(slot, kind);
  }

  function accrue(lane: number): void {
    const dt = now[0]! - accruedTo[lane]!;
    accruedTo[lane] = now[0]!;
    const depth = depths[lane]!;
    if (!inWindow || depth === 0) return;
    const slot = stacks[lane * DEPTH + depth - 1]! & SLOT;
    sections[slot * STRIDE + SELF]! += dt;
    if (isWait[slot] === 1 && openTokens[lane] === 0) waits[lane]! += dt;
  }

  /** After a change of a lane's stack or tokens. */
  function setBusy(lane: number): void {
    if (laneCount === 1) return;
    const depth = depths[lane]!;
    const works = openTokens[lane]! > 0 || (depth > 0 && isWork[stacks[lane * DEPTH + depth - 1]! & SLOT] === 1);
    busy = works ? busy | (1 << lane) : busy & ~(1 << lane);
  }

  function endInline(asChild: boolean): void {
    const own = asChild ? 0 : busy & 1;
    for (let set = 0; set < 1 << laneCount; set += 1) {
      busySets[set | own]! += inlineSets[set]!;
      inlineSets[set] = 0;
    }
    inline = -1;
  }

  /** Makes room for the next step; not before it begins, so that the last one can be read until then. */
  function freshen(): void {
    if (!stale) return;
    stale = false;
    totals.unbalanced = totals.dropped = totals.droppedLanes = 0;
    usedSections.fill(0);
    causes.clear();
    waits.fill(0);
    usedSets.fill(0);
  }

  function openWindow(): void {
    freshen();
    inWindow = true;
    totals.start = now[0]!;
    for (let lane = 0; lane < laneCount; lane += 1) accruedTo[lane] = now[0]!;
    causes.keep(STEP_SLOT);
    if (openCount === 0) return;
    for (let slot = 1; slot < sectionCount; slot += 1) {
      openSince[slot] = now[0]!;
      if (isLocal[laneOf[slot]!] === 1) causes.keep(slot);
    }
  }

  function opened(slot: number): void {
    const depth = openDepth[slot]!;
    openDepth[slot] = depth + 1;
    if (depth > 0) return;
    openCount += 1;
    openSince[slot] = now[0]!;
    causes.keep(slot);
  }

  function ended(slot: number): void {
    const depth = openDepth[slot]! - 1;
    openDepth[slot] = depth;
    if (depth === 0) openCount -= 1;
    if (!inWindow) return;
    sections[slot * STRIDE + COUNT]! += 1;
    if (depth > 0) return;
    sections[slot * STRIDE + TOTAL]! += now[0]! - openSince[slot]!;
    causes.add(slot);
  }

  function push(slot: number, flag: number): void {
    const lane = laneOf[slot]!;
    if (lane === OWN) {
      if (!inWindow) openWindow();
      if (inline >= 0) endInline(false);
    }
    accrue(lane);
    const depth = depths[lane]!;
    if (depth === DEPTH) return unbalanced(slot, START);
    const parent = slot * STRIDE + PARENT;
    const isFirst = inWindow && sections[parent] === 0;
    if (isFirst) sections[parent] = depth === 0 ? ROOT : stacks[lane * DEPTH + depth - 1]! & SLOT || ROOT;
    if (depth === 0 && inWindow && inline < 0 && isLocal[lane] === 1) {
      accrue(OWN);
      inline = lane;
      inlineIsFirst = isFirst;
    }
    stacks[lane * DEPTH + depth] = slot | flag;
    depths[lane] = depth + 1;
    opened(slot);
    setBusy(lane);
  }

  function pop(slot: number, kind: number): void {
    const lane = laneOf[slot]!;
    const base = lane * DEPTH;
    let top = depths[lane]! - 1;
    let at = top;
    while (at >= 0 && (stacks[base + at]! & SLOT) !== slot) at -= 1;
    if (at < 0) return unbalanced(slot, kind);
    if (inline >= 0 && lane === OWN) endInline(false);
    accrue(lane);
    while (top > at && stacks[base + top]! > SLOT) {
      ended(stacks[base + top]! & SLOT);
      top -= 1;
    }
    if (top > at && kind === STOP) unbalanced(slot, kind);
    for (let i = at; i < top; i += 1) stacks[base + i] = stacks[base + i + 1]!;
    depths[lane] = top;
    ended(slot);
    setBusy(lane);
    if (lane === inline && top === 0) {
      waits[OWN]! += now[0]! - accruedTo[OWN]!;
      accruedTo[OWN] = now[0]!;
      endInline(true);
      if (inlineIsFirst) sections[slot * STRIDE + PARENT] = stacks[depths[OWN]! - 1]! & SLOT || ROOT;
    }
  }

  /** A whole run of a section of the own lane. */
  function addLeaf(slot: number, ns: number): void {
    const at = slot * STRIDE;
    if (sections[at + PARENT] === 0) sections[at + PARENT] = stacks[depths[OWN]! - 1]! & SLOT || ROOT;
    sections[at + TOTAL]! += ns;
    sections[at + SELF]! += ns;
    sections[at + COUNT]! += 1;
    if (isWait[slot] === 1) waits[OWN]! += ns;
    if (laneCount > 1) busySets[isWork[slot] === 1 ? busy | 1 : busy & ~1]! += ns;
  }

  function lap(slot: number): void {
    const lane = laneOf[slot]!;
    const top = depths[lane] === 0 ? 0 : stacks[lane * DEPTH + depths[lane]! - 1]!;
    if (top > SLOT) pop(top & SLOT, STOP);
    push(slot, LAPPED);
  }

  function token(slot: number, kind: number): void {
    const lane = laneOf[slot]!;
    if (kind === END && openDepth[slot] === 0) return unbalanced(slot, kind);
    freshen();
    if (sections[slot * STRIDE + PARENT] === 0) sections[slot * STRIDE + PARENT] = ROOT;
    sections[slot * STRIDE + OVERLAPPING] = 1;
    if (lane !== OWN && isWork[slot] === 1) {
      accrue(lane);
      openTokens[lane]! += kind === BEGIN ? 1 : -1;
      setBusy(lane);
    }
    if (kind === BEGIN) opened(slot);
    else ended(slot);
  }

  function closeStep(): void {
    while (depths[OWN]! > carried) {
      const frame = stacks[depths[OWN]! - 1]!;
      if (frame <= SLOT) unbalanced(frame, STEP_END);
      pop(frame & SLOT, SETTLE);
    }
    if (inline >= 0) endInline(false);
    for (let lane = 0; lane < laneCount; lane += 1) accrue(lane);
    const used = openCount > 0 ? sectionCount : 0;
    for (let slot = 1; slot < used; slot += 1) {
      if (openDepth[slot] === 0) continue;
      sections[slot * STRIDE + TOTAL]! += now[0]! - openSince[slot]!;
      if (isLocal[laneOf[slot]!] === 1) causes.add(slot);
    }
    sections[STEP_SLOT * STRIDE + TOTAL] = now[0]! - totals.start;
    sections[STEP_SLOT * STRIDE + COUNT] = 1;
    causes.add(STEP_SLOT);
    inWindow = inStep = settling = false;
    stale = true;
  }

  /** A boundary of another thread can be seen late: time stands still for it. */
  function moveTo(time: number): void {
    if (time <= now[0]!) return;
    if (inWindow && laneCount > 1) {
      if (inline < 0) busySets[busy]! += time - now[0]!;
      else inlineSets[busy & ~1]! += time - now[0]!;
    }
    now[0] = time;
  }

  function timeAt({ words }: Recording, at: number): number {
    return (words[at * 2 + 1]! - originHigh) * 0x1_0000_0000 + words[at * 2]! - originLow;
  }

  depths[OWN] = 1;
  return {
    totals,
    addLane(local) {
      isLocal[laneCount] = local ? 1 : 0;
      accruedTo[laneCount] = now[0]!;
      laneCount += 1;
      usedSets = busySets.subarray(0, 1 << laneCount);
    },
    addSection(slot, lane, wait) {
      laneOf[slot] = lane;
      isWait[slot] = wait ? 1 : 0;
      isWork[slot] = wait ? 0 : 1;
      sectionCount = slot + 1;
      usedSections = sections.subarray(0, sectionCount * STRIDE);
    },
    timeAt,
    nextTime({ recording, tail }) {
      const at = HEADER + (tail & (recording.size - 1)) * recording.stride;
      return (recording.words[at * 2 + 2]! & 15) === WORK ? -Infinity : timeAt(recording, at);
    },
    run(track, end, limit) {
      const { recording, slots } = track;
      const { words, floats, size, stride } = recording;
      const hasCauses = stride > CAUSES;
      const mayBeLeaf = !hasCauses && slots === null;
      let tail = track.tail;
      while (tail !== end) {
        const at = HEADER + (tail & (size - 1)) * stride;
        tail = (tail + 1) | 0;
        const code = words[at * 2 + 2]!;
        const kind = code & 15;
        const slot = slots === null ? code >> 4 : slots[code >> 4]!;
        if (kind === WORK) {
          freshen();
          sections[slot * STRIDE + WORK_FIELDS + words[at * 2 + 3]!]! += floats[at]!;
          track.tail = tail;
          continue;
        }
        const time = (words[at * 2 + 1]! - originHigh) * 0x1_0000_0000 + words[at * 2]! - originLow;
        if (time > limit) return false;
        track.tail = tail;
        if (slots !== null && kind >= STEP) continue;
        moveTo(time);
        // A section without children is the commonest: its start and stop at once, past the stack.
        const next = HEADER + (tail & (size - 1)) * stride;
        if (
          kind === START &&
          tail !== end &&
          words[next * 2 + 2] === code + STOP &&
          mayBeLeaf &&
          laneOf[slot] === OWN &&
          inWindow &&
          inline < 0 &&
          openDepth[slot] === 0
        ) {
          const stop = (words[next * 2 + 1]! - originHigh) * 0x1_0000_0000 + words[next * 2]! - originLow;
          if (stop <= limit) {
            accrue(OWN);
            addLeaf(slot, stop - now[0]!);
            now[0] = accruedTo[OWN] = stop;
            tail = (tail + 1) | 0;
            track.tail = tail;
            continue;
          }
        }
        causes.point(floats, hasCauses ? at + CAUSES : 0);
        if (kind === START) push(slot, 0);
        else if (kind <= SETTLE) pop(slot, kind);
        else if (kind === LAP) lap(slot);
        else if (kind <= END) token(slot, kind);
        else if (kind === STEP) {
          if (!inWindow) openWindow();
          carried = depths[OWN]!;
          inStep = true;
        } else if (inStep) {
          closeStep();
          return true;
        }
      }
      return false;
    },
    lose(lanes, boundaries) {
      freshen();
      totals.dropped += boundaries;
      for (const lane of lanes) {
        depths[lane] = openTokens[lane] = 0;
        busy &= ~(1 << lane);
        totals.droppedLanes |= 1 << lane;
        for (let slot = 1; slot < sectionCount; slot += 1) {
          if (laneOf[slot] !== lane || openDepth[slot] === 0) continue;
          openDepth[slot] = 0;
          openCount -= 1;
        }
      }
    },
    reset() {
      depths.fill(0);
      depths[OWN] = 1;
      openDepth.fill(0);
      openTokens.fill(0);
      inlineSets.fill(0);
      busy = 0;
      inline = -1;
      inWindow = inStep = false;
      settling = stale = true;
      openCount = 0;
    },
  };
}
