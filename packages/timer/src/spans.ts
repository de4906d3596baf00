import { BEGIN, CAUSES, END, HEADER, LAP, type Recording, START, STEP, STEP_END, WORK } from "./recording.ts";
import type { SectionInfo, Span } from "./timer.ts";

/** A recording as spans are read from it. */
export interface SpanSource {
  readonly recording: Recording;
  /** By the recording's own slots, the step in slot 0. */
  readonly sections: readonly SectionInfo[];
  readonly local: boolean;
  /** Boundaries written so far, modulo 2^32. */
  readonly head: number;
  /** Time of the boundary at a double, ns since the timer was made. */
  readonly time: (at: number) => number;
}

interface Frame {
  readonly slot: number;
  readonly token: number;
  readonly kind: number;
  readonly start: number;
  readonly kernels: number;
}

/** Boundaries before the first time that are searched for runs open then. */
const LOOK_BACK = 1024;

/** Spans between two times (ns), clipped to them, by lane and start, parents first. Runs that began too far back are left out. */
export function readSpans({ recording, sections, local, head, time }: SpanSource, from: number, to: number): Span[] {
  const { words, floats, size, stride } = recording;
  const spans: Span[] = [];
  const stacks = new Map<string, Frame[]>();
  let carried = 0;

  function close(stack: Frame[], frame: Frame, end: number, kernels: number): void {
    const at = stack.indexOf(frame);
    stack.splice(at, 1);
    const { name, lane } = sections[frame.slot]!;
    const start = Math.max(frame.start, from);
    if (end < start || start >= to || (end === from && frame.start < from)) return;
    spans.push({
      name,
      lane,
      local,
      startMs: start / 1e6,
      ms: (Math.min(end, to) - start) / 1e6,
      depth: frame.kind === BEGIN ? null : at,
      kernels: stride > CAUSES ? [frame.kernels, kernels] : null,
    });
  }

  const stackOf = (lane: string): Frame[] => {
    const known = stacks.get(lane);
    if (known) return known;
    const made: Frame[] = [];
    stacks.set(lane, made);
    return made;
  };

  const place = (boundary: number): number => HEADER + (boundary & (size - 1)) * stride;
  const oldest = head >>> 0 < size ? 0 : (head - size) | 0;
  let first = head;
  for (let past = 0; first !== oldest && past < LOOK_BACK; first = (first - 1) | 0) if (past > 0 || time(place(first)) < from) past += 1;

  let kernels = 0;
  for (let boundary = first; boundary !== head; boundary = (boundary + 1) | 0) {
    const at = place(boundary);
    const code = words[at * 2 + 2]!;
    const kind = code & 15;
    const slot = code >> 4;
    if (kind === WORK) continue;
    const t = time(at);
    if (t > to) break;
    kernels = floats[at + CAUSES]!;
    const token = words[at * 2 + 3]!;
    const stack = stackOf(kind === BEGIN || kind === END ? "" : sections[slot]!.lane);
    const top = stack.at(-1);
    if (kind === STEP) carried = stack.length;
    else if (kind === STEP_END) while (stack.length > carried) close(stack, stack.at(-1)!, t, kernels);
    else if (kind === START || kind === BEGIN || kind === LAP) {
      if (kind === LAP && top?.kind === LAP) close(stack, top, t, kernels);
      stack.push({ slot, token, kind, start: t, kernels });
    } else {
      const frame = stack.findLast((open) => open.slot === slot && open.token === token);
      while (frame && stack.at(-1) !== frame && stack.at(-1)!.kind === LAP) close(stack, stack.at(-1)!, t, kernels);
      if (frame) close(stack, frame, t, kernels);
    }
  }
  for (const stack of stacks.values()) while (stack.length > 0) close(stack, stack.at(-1)!, to, kernels);
  return spans.toSorted((a, b) => (a.lane < b.lane ? -1 : a.lane > b.lane ? 1 : a.startMs - b.startMs || (a.depth ?? 0) - (b.depth ?? 0)));
}
