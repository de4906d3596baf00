import type { SeenKeys } from "./maskPredicate.ts";

/** Counts the visible elements of each tile in one row of tiles, from intervals of keys. */
export interface TileCounter {
  /** Adds the keys that each of so many queries sees. */
  add(seen: SeenKeys, queries: number): void;
  /** Calls `visit` for every tile that something was added to since the last drain, by ascending column, and starts again from nothing. */
  drain(visit: (column: number, visible: number) => void): void;
}

/**
 * A counter for `columns` tiles of `tile` keys. An interval costs the same however long it is: its elements are counted in the tiles at its ends,
 * and the tiles between are noted as a change of cover where they begin and end. A drain goes through the span of tiles that the queries' first
 * intervals touch, then through that of their second ones, and so on, so that the gap between context and noise costs nothing.
 */
export function createTileCounter(columns: number, tile: number): TileCounter {
  const ends = new Float64Array(columns);
  const changes = new Int32Array(columns + 1);
  const firsts: number[] = [];
  const lasts: number[] = [];
  let spans = 0;
  return {
    add({ bounds, count }, queries) {
      for (let span = 0; 2 * span < count; span++) {
        const start = bounds[2 * span]!;
        const end = bounds[2 * span + 1]!;
        const first = (start / tile) | 0;
        const last = ((end - 1) / tile) | 0;
        if (first === last) {
          ends[first]! += queries * (end - start);
        } else {
          ends[first]! += queries * ((first + 1) * tile - start);
          ends[last]! += queries * (end - last * tile);
          changes[first + 1]! += queries;
          changes[last]! -= queries;
        }
        if (span === spans) {
          firsts[spans] = first;
          lasts[spans++] = last;
        } else {
          if (first < firsts[span]!) firsts[span] = first;
          if (last > lasts[span]!) lasts[span] = last;
        }
      }
    },
    drain(visit) {
      let column = 0;
      let covering = 0;
      for (let span = 0; span < spans; span++) {
        for (column = Math.max(column, firsts[span]!); column <= lasts[span]!; column++) {
          covering += changes[column]!;
          const visible = covering * tile + ends[column]!;
          changes[column] = 0;
          ends[column] = 0;
          if (visible > 0) visit(column, visible);
        }
      }
      spans = 0;
    },
  };
}
