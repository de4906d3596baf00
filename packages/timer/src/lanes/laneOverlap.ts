/** Counts how long which lanes were busy together. */
export interface LaneOverlap {
  /** A lane is busy from now on, or no more. */
  set(lane: number, busy: boolean): void;
  /** Time passes. */
  pass(ns: number): void;
  /** From now on it is open whether the own lane, which is busy, works or hands its time to another lane. */
  hold(): void;
  /** Settles that. */
  settle(ownWorked: boolean, laneCount: number): void;
}

const OWN = 1;

/** Counts into `busySets`: time by the set of busy lanes, a bit a lane. */
export function createLaneOverlap(busySets: Float64Array): LaneOverlap {
  const held = new Float64Array(busySets.length);
  let busy = 0;
  let holding = false;
  return {
    set(lane, isBusy) {
      busy = isBusy ? busy | (1 << lane) : busy & ~(1 << lane);
    },
    pass(ns) {
      if (holding) held[busy & ~OWN]! += ns;
      else busySets[busy]! += ns;
    },
    hold() {
      holding = true;
    },
    settle(ownWorked, laneCount) {
      if (!holding) return;
      holding = false;
      for (let set = 0; set < 1 << laneCount; set += 2) {
        busySets[ownWorked ? set | OWN : set]! += held[set]!;
        held[set] = 0;
      }
    },
  };
}
