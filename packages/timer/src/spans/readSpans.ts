import { causesAt } from "../causes/causeRing.ts";
import { internalsOf, type RecordingSource } from "../internals.ts";
import { BEGIN, END, LAP, placeOf, SIZE, START, STEP, STEP_END, WORK } from "../recording.ts";
import type { Span } from "./span.ts";
import type { Timer } from "../timer.ts";

/** Boundaries before a stretch of time that are searched for runs that were open when it began. */
const LOOK_BACK = 1024;
/** Overlapping runs stand after those that nest. */
const DEEPEST = 1e6;

interface Frame {
  readonly slot: number;
  readonly token: number;
  readonly kind: number;
  readonly start: number;
  readonly kernels: number | null;
}

/**
 * The spans of a closed step (its report, or any stretch of time): by lane and start, parents first, clipped to it.
 * Null when the recording holds it no more, which is some 2,000 sections later.
 */
export function readSpans(
  timer: Timer,
  { startMs, ms }: { readonly startMs: number; readonly ms: number },
): readonly Span[] | null {
  const { recorder, timeAt, infos, others, causes } = internalsOf(timer);
  const { recording } = recorder;
  const own: RecordingSource = { recording, timeAt, infos, local: true, causes, head: () => recorder.head };
  const from = Math.round(startMs * 1e6);
  const to = from + Math.round(ms * 1e6);
  const spans: Span[] = [];
  for (const source of [own, ...others]) {
    const complete = addSpans(spans, source, from, to);
    if (!complete && source.local) return null;
  }
  return spans.toSorted((a, b) =>
    a.lane < b.lane ? -1 : a.lane > b.lane ? 1 : a.startMs - b.startMs || (a.depth ?? DEEPEST) - (b.depth ?? DEEPEST),
  );
}

/** Adds one recording's spans; false when boundaries of that time were overwritten. */
function addSpans(spans: Span[], source: RecordingSource, from: number, to: number): boolean {
  const { timeAt, infos, local, causes } = source;
  const { words } = source.recording;
  const head = source.head();
  const kindAt = (boundary: number): number => words[placeOf(boundary) * 2 + 2]! & 15;

  const oldest = head >>> 0 < SIZE ? 0 : (head - SIZE) | 0;
  let first = head;
  let before = 0;
  while (first !== oldest && before < LOOK_BACK) {
    first = (first - 1) | 0;
    if (before > 0 || (kindAt(first) !== WORK && timeAt(placeOf(first)) < from)) before += 1;
  }
  if (before === 0 && oldest !== 0) return false;

  /** Open runs by lane; overlapping ones, which don't nest, apart. */
  const stacks = new Map<string, Frame[]>();
  let carried = 0;
  let kernels: number | null = null;

  function close(stack: Frame[], frame: Frame, end: number): void {
    const depth = stack.indexOf(frame);
    stack.splice(depth, 1);
    const start = Math.max(frame.start, from);
    if (end < start || start >= to || (end === from && frame.start < from)) return;
    const { name, lane } = infos[frame.slot]!;
    spans.push({
      name,
      lane,
      local,
      startMs: start / 1e6,
      ms: (Math.min(end, to) - start) / 1e6,
      depth: frame.kind === BEGIN ? null : depth,
      kernels: frame.kernels === null || kernels === null ? null : [frame.kernels, kernels],
    });
  }

  for (let boundary = first; boundary !== head; boundary = (boundary + 1) | 0) {
    const at = placeOf(boundary);
    const kind = kindAt(boundary);
    const slot = words[at * 2 + 2]! >> 4;
    const token = words[at * 2 + 3]!;
    if (kind === WORK) continue;
    const t = timeAt(at);
    if (t > to) break;
    kernels = causes?.[causesAt(boundary)] ?? null;
    const lane = kind === BEGIN || kind === END ? "" : infos[slot]!.lane;
    const stack = stacks.get(lane) ?? [];
    stacks.set(lane, stack);
    const top = stack.at(-1);
    if (kind === STEP) carried = stack.length;
    else if (kind === STEP_END) while (stack.length > carried) close(stack, stack.at(-1)!, t);
    else if (kind === START || kind === BEGIN || kind === LAP) {
      if (kind === LAP && top?.kind === LAP) close(stack, top, t);
      stack.push({ slot, token, kind, start: t, kernels });
    } else {
      const frame = stack.findLast((open) => open.slot === slot && open.token === token);
      if (!frame) continue;
      while (stack.at(-1) !== frame && stack.at(-1)!.kind === LAP) close(stack, stack.at(-1)!, t);
      close(stack, frame, t);
    }
  }
  for (const stack of stacks.values()) while (stack.length > 0) close(stack, stack.at(-1)!, to);
  return true;
}
