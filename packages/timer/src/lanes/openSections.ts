import type { CauseSums } from "../causes/causeSums.ts";
import { COUNT, MAX_SECTIONS, type StepTotals, STRIDE, TOTAL } from "../stepTotals.ts";
import type { Registry } from "./registry.ts";

/** How long and how often sections are open, and what the engine does meanwhile. */
export interface OpenSections {
  /** How often each is open now. */
  readonly depths: Int32Array;
  open(slot: number): void;
  close(slot: number, counts: boolean): void;
  /** A step begins: what is open counts from now on. */
  begin(): void;
  /** The step ends: what is open counts up to now. */
  end(): void;
}

/** Counts into `totals`; `now` is the time of the boundary at hand, ns. */
export function createOpenSections(
  { infos, laneOf, isLocal }: Registry,
  { sections }: StepTotals,
  causes: CauseSums,
  now: Float64Array,
): OpenSections {
  const depths = new Int32Array(MAX_SECTIONS);
  const since = new Float64Array(MAX_SECTIONS);
  let open = 0;

  function settle(slot: number): void {
    sections[slot * STRIDE + TOTAL]! += now[0]! - since[slot]!;
  }

  function each(act: (slot: number) => void): void {
    if (open === 0) return;
    for (let slot = 1; slot < infos.length; slot += 1) if (depths[slot]! > 0) act(slot);
  }

  return {
    depths,
    open(slot) {
      depths[slot]! += 1;
      if (depths[slot]! > 1) return;
      open += 1;
      since[slot] = now[0]!;
      causes.keep(slot);
    },
    close(slot, counts) {
      depths[slot]! -= 1;
      const isLast = depths[slot] === 0;
      if (isLast) open -= 1;
      if (!counts) return;
      sections[slot * STRIDE + COUNT]! += 1;
      if (!isLast) return;
      settle(slot);
      causes.add(slot);
    },
    begin() {
      each((slot) => {
        since[slot] = now[0]!;
        if (isLocal[laneOf[slot]!] === 1) causes.keep(slot);
      });
    },
    end() {
      each((slot) => {
        settle(slot);
        if (isLocal[laneOf[slot]!] === 1) causes.add(slot);
      });
    },
  };
}
