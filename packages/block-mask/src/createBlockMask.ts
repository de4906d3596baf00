import { checkInteger } from "./checkArgument.ts";
import { dflash } from "./knownPredicates.ts";
import type { DflashOptions } from "./dflashRowRanges.ts";
import { makeBlockMask, type BlockMask, type ListedTiles } from "./blockMask.ts";
import { createSeenKeys, seeKeysOf, type MaskPredicate } from "./maskPredicate.ts";
import { createTileCounter } from "./tileCounter.ts";
import { byColumn, createTileListBuilder, type TileListBuilder } from "./tileList.ts";

/** What is told when a build starts and stops; a section of a timer fits. */
export interface Stopwatch {
  /** Called before the build. */
  start(): void;
  /** Called after it, also when it throws. */
  stop(): void;
}

/** What every builder of block masks takes. */
export interface TileOptions {
  /** Queries and keys of a tile, FlexAttention's BLOCK_SIZE: one number for both or one each; 128 unless given. */
  readonly tile?: number | readonly [q: number, kv: number];
  /** Times the build. */
  readonly timer?: Stopwatch;
}

/** The extent of a mask. */
export interface CreateBlockMaskOptions extends TileOptions {
  /** Number of queries. */
  readonly qLen: number;
  /** Number of keys. */
  readonly kvLen: number;
  /** Batch elements that the predicate tells apart; 1 unless given, which stands for all. */
  readonly batch?: number;
  /** Heads that the predicate tells apart; 1 unless given, which stands for all. */
  readonly heads?: number;
}

/**
 * The block mask of a predicate, exactly as FlexAttention's `create_block_mask` builds it. A known predicate costs a few operations a run of
 * equal queries and a few a listed tile, any other a call an element. The mask holds 8 bytes a listed tile and 16 a row and column of tiles, until
 * FlexAttention's index arrays are read. Throws a RangeError that names the argument.
 */
export function createBlockMask(predicate: MaskPredicate, options: CreateBlockMaskOptions): BlockMask {
  return timed(options.timer, () => build(predicate, options));
}

/** The block mask of a DFlash drafter over N·B queries and S + N·B keys; see {@link DflashOptions}. */
export function dflashBlockMask(options: DflashOptions & TileOptions): BlockMask {
  return timed(options.timer, () => {
    const qLen = options.anchors.length * options.blockSize;
    return build(dflash(options), { ...options, qLen, kvLen: options.contextLength + qLen });
  });
}

function timed<T>(timer: Stopwatch | undefined, task: () => T): T {
  timer?.start();
  try {
    return task();
  } finally {
    timer?.stop();
  }
}

function build(
  predicate: MaskPredicate,
  { qLen, kvLen, tile = 128, batch: batches = 1, heads = 1 }: CreateBlockMaskOptions,
): BlockMask {
  const [tileQ, tileKv] = typeof tile === "number" ? [tile, tile] : tile;
  checkInteger("qLen", qLen, 0);
  checkInteger("kvLen", kvLen, 0);
  checkInteger("tile", tileQ, 1);
  checkInteger("tile", tileKv, 1);
  checkInteger("batch", batches, 1);
  checkInteger("heads", heads, 1);
  const rows = Math.ceil(qLen / tileQ);
  const columns = Math.ceil(kvLen / tileKv);
  const slices = batches * heads;
  checkInteger("batch · heads · rows · columns of tiles", slices * rows * columns, 0);
  const partial = createTileListBuilder(slices * rows, columns);
  const full = createTileListBuilder(slices * rows, columns);
  const list = (column: number, visible: number): void => (visible === tileQ * tileKv ? full : partial).add(column);
  const counter = createTileCounter(columns, tileKv);
  const seeKeys = seeKeysOf(predicate);
  const seen = createSeenKeys();
  for (let slice = 0; slice < slices; slice++) {
    const at = { batch: Math.floor(slice / heads), head: slice % heads, qLen, kvLen };
    for (let row = 0; row < rows; row++) {
      const rowEnd = Math.min(qLen, (row + 1) * tileQ);
      for (let query = row * tileQ; query < rowEnd; query = Math.min(seen.queryEnd, rowEnd)) {
        seeKeys(query, at, seen);
        counter.add(seen, Math.min(seen.queryEnd, rowEnd) - query);
      }
      counter.drain(list);
      for (const lines of [partial, full]) lines.endLine();
    }
  }
  const listed = (lines: TileListBuilder): ListedTiles => {
    const byRow = lines.build();
    return { byRow, byColumn: byColumn(byRow, { slices, rows, columns }) };
  };
  return makeBlockMask(
    { batch: batches, heads, qLen, kvLen, tile: [tileQ, tileKv], rows, columns, predicate },
    { partial: listed(partial), full: listed(full) },
  );
}
