import type { ReplaySource } from "./internals.ts";
import { BEGIN, END, LAP, placeOf, SETTLE, START, STEP, STEP_END, STOP, WORK } from "./recording.ts";
import type { Replay } from "./replay.ts";
import { serialLanes } from "./serialLanes.ts";
import {
  clearTotals,
  COUNT,
  MAX_SECTIONS,
  OVERLAPPING,
  PARENT,
  ROOT,
  SELF,
  STEP_SLOT,
  STRIDE,
  TOTAL,
  WORK_FIELDS,
} from "./stepTotals.ts";

const DEPTH = 64;
/** A frame is a slot, and a flag when `lap` opened it. */
const SLOT = 0xffff;
const LAPPED = 0x1_0000;

/** Each instant goes to the section that began last, whatever its lane, so a step is the sum of its parts whatever was called. */
export function createSerialReplay({ recorder, timeAt, totals, infos, refuse }: ReplaySource): Replay {
  const { words, floats } = recorder.recording;
  const { sections } = totals;
  /** Open sections, the step below them. */
  const stack = new Int32Array(DEPTH);
  let depth = 1;
  /** How often each section is open, and since when. */
  const runs = new Int32Array(MAX_SECTIONS);
  const since = new Float64Array(MAX_SECTIONS);
  /** In an array, since a number that is passed along may be boxed. */
  const now = new Float64Array(1);
  /** Whether time counts: a step has begun, if only with a section before it. */
  let counts = false;
  let inStep = false;
  let settling = false;
  /** Depth when the step began. */
  let carried = 1;

  function unbalanced(slot: number, kind: number): void {
    if (settling) return;
    totals.unbalanced += 1;
    refuse?.(slot, kind);
  }

  function begin(): void {
    if (counts) return;
    counts = true;
    totals.start = now[0]!;
  }

  function open(slot: number, parent: number): void {
    begin();
    if (sections[slot * STRIDE + PARENT] === 0) sections[slot * STRIDE + PARENT] = parent;
    if (runs[slot] === 0) since[slot] = now[0]!;
    runs[slot]! += 1;
  }

  function close(slot: number): void {
    runs[slot]! -= 1;
    if (!counts) return;
    sections[slot * STRIDE + COUNT]! += 1;
    if (runs[slot] === 0) settle(slot);
  }

  /** A section that was open before the step counts from its start. */
  function settle(slot: number): void {
    sections[slot * STRIDE + TOTAL]! += now[0]! - Math.max(since[slot]!, totals.start);
  }

  function push(frame: number): void {
    if (depth === DEPTH) return unbalanced(frame & SLOT, START);
    open(frame & SLOT, stack[depth - 1]! & SLOT || ROOT);
    stack[depth] = frame;
    depth += 1;
  }

  function pop(slot: number, kind: number): void {
    let at = depth - 1;
    while (at > 0 && (stack[at]! & SLOT) !== slot) at -= 1;
    if (at === 0) return unbalanced(slot, kind);
    for (; depth - 1 > at && stack[depth - 1]! > SLOT; depth -= 1) close(stack[depth - 1]! & SLOT);
    if (depth - 1 > at && kind === STOP) unbalanced(slot, kind);
    depth -= 1;
    if (at < depth) stack.copyWithin(at, at + 1, depth + 1);
    close(slot);
  }

  function end(): void {
    while (depth > carried) {
      const frame = stack[depth - 1]!;
      if (frame <= SLOT) unbalanced(frame, STEP_END);
      pop(frame & SLOT, SETTLE);
    }
    for (let slot = 1; slot < infos.length; slot += 1) if (runs[slot]! > 0) settle(slot);
    sections[STEP_SLOT + TOTAL] = now[0]! - totals.start;
    counts = inStep = settling = false;
  }

  const replay: Replay = {
    tail: 0,
    run(head) {
      while (replay.tail !== head) {
        const at = placeOf(replay.tail);
        const kind = words[at * 2 + 2]! & 15;
        const slot = words[at * 2 + 2]! >> 4;
        replay.tail = (replay.tail + 1) | 0;
        if (kind === WORK) {
          sections[slot * STRIDE + WORK_FIELDS + words[at * 2 + 3]!]! += floats[at]!;
          continue;
        }
        const time = timeAt(at);
        if (counts) sections[(stack[depth - 1]! & SLOT) * STRIDE + SELF]! += time - now[0]!;
        now[0] = time;
        if (kind === START) push(slot);
        else if (kind <= SETTLE) pop(slot, kind);
        else if (kind === LAP) {
          if (stack[depth - 1]! > SLOT) pop(stack[depth - 1]! & SLOT, SETTLE);
          push(slot | LAPPED);
        } else if (kind === BEGIN) {
          sections[slot * STRIDE + OVERLAPPING] = 1;
          open(slot, ROOT);
        } else if (kind === END) {
          if (runs[slot] === 0) unbalanced(slot, kind);
          else close(slot);
        } else if (kind === STEP) {
          begin();
          carried = depth;
          inStep = true;
        } else if (inStep) {
          end();
          return true;
        }
      }
      return false;
    },
    reset() {
      runs.fill(0);
      depth = 1;
      counts = inStep = false;
      settling = true;
    },
    lanes: () => serialLanes(infos, totals),
    clear: () => clearTotals(totals, infos.length),
  };
  return replay;
}
