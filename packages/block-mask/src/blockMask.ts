import { checkedIndex } from "./checkArgument.ts";
import { blockMaskText } from "./drawBlockMask.ts";
import type { MaskPredicate } from "./maskPredicate.ts";
import type { TileList } from "./tileList.ts";

/**
 * FlexAttention's lists of the tiles that must be computed: partial ones, where the predicate decides element by element, and
 * full ones, where all is visible. By row of tiles: numBlocks is [batch, heads, rows], and indices, [batch, heads, rows, columns],
 * holds in each row that many columns, ascending; what follows them means nothing. The q lists are the same by column:
 * [batch, heads, columns] and [batch, heads, columns, rows]. Each of the four arrays of indices is made when it is first read, and
 * kept: it takes 4 · batch · heads · rows · columns bytes, however few tiles are listed.
 */
export interface TileLists {
  /** Number of partial tiles in each row of tiles, [batch, heads, rows]. */
  readonly kvNumBlocks: Int32Array;
  /** Their columns, ascending, [batch, heads, rows, columns]. */
  readonly kvIndices: Int32Array;
  /** Number of full tiles in each row of tiles, [batch, heads, rows]. */
  readonly fullKvNumBlocks: Int32Array;
  /** Their columns, ascending, [batch, heads, rows, columns]. */
  readonly fullKvIndices: Int32Array;
  /** Number of partial tiles in each column of tiles, [batch, heads, columns]. */
  readonly qNumBlocks: Int32Array;
  /** Their rows, ascending, [batch, heads, columns, rows]. */
  readonly qIndices: Int32Array;
  /** Number of full tiles in each column of tiles, [batch, heads, columns]. */
  readonly fullQNumBlocks: Int32Array;
  /** Their rows, ascending, [batch, heads, columns, rows]. */
  readonly fullQIndices: Int32Array;
}

/** What a mask covers. */
export interface BlockMaskShape {
  /** Batch elements; 1 stands for any number of equal ones. */
  readonly batch: number;
  /** Heads; 1 stands for any number of equal ones. */
  readonly heads: number;
  /** Number of queries. */
  readonly qLen: number;
  /** Number of keys. */
  readonly kvLen: number;
  /** Queries and keys of a tile, FlexAttention's BLOCK_SIZE. */
  readonly tile: readonly [q: number, kv: number];
  /** Rows of tiles, ⌈qLen / tile[0]⌉. */
  readonly rows: number;
  /** Columns of tiles, ⌈kvLen / tile[1]⌉. */
  readonly columns: number;
  /** What decides inside partial tiles, FlexAttention's mask_mod. */
  readonly predicate: MaskPredicate;
}

/** An attention mask as a block-sparse structure with FlexAttention's fields. A tile that reaches past the lengths is never full. */
export interface BlockMask extends BlockMaskShape, TileLists {
  /** Whether the query may attend to the key. */
  visible(query: number, key: number, batch?: number, head?: number): boolean;
  /** The mask element by element, 1 where visible, [batch, heads, qLen, kvLen]. */
  toDense(): Uint8Array;
  /** 0 for an empty tile, 1 for a partial and 2 for a full one, [rows, columns]. */
  tileKinds(batch?: number, head?: number): Uint8Array;
  /** The share of the scores that are not computed, in percent, as FlexAttention counts it: below 0 where tiles reach far past the lengths. */
  sparsity(): number;
  /** The mask with queries and keys exchanged. Shares the lists with this one. */
  transpose(): BlockMask;
  /** Whether the shapes, the tiles and every visible element are equal. */
  equals(other: BlockMask): boolean;
  /** A line on the whole, then for each batch element and head one character a tile: `·` empty, `░` partial, `█` full. */
  toString(): string;
}

/** The tiles of one kind, by row and by column. */
export interface ListedTiles {
  readonly byRow: TileList;
  readonly byColumn: TileList;
}

/** The tiles of a mask that must be computed. */
export interface MaskTiles {
  readonly partial: ListedTiles;
  readonly full: ListedTiles;
}

/** Puts FlexAttention's fields and the methods to the tiles of a mask. */
export function makeBlockMask(shape: BlockMaskShape, tiles: MaskTiles): BlockMask {
  const { partial, full } = tiles;
  const mask: BlockMask = {
    ...shape,
    kvNumBlocks: partial.byRow.counts,
    fullKvNumBlocks: full.byRow.counts,
    qNumBlocks: partial.byColumn.counts,
    fullQNumBlocks: full.byColumn.counts,
    get kvIndices() {
      return partial.byRow.padded();
    },
    get fullKvIndices() {
      return full.byRow.padded();
    },
    get qIndices() {
      return partial.byColumn.padded();
    },
    get fullQIndices() {
      return full.byColumn.padded();
    },
    visible: (query, key, batch = 0, head = 0) =>
      shape.predicate(
        checkedIndex("query", query, shape.qLen),
        checkedIndex("key", key, shape.kvLen),
        broadcast("batch", batch, shape.batch),
        broadcast("head", head, shape.heads),
      ),
    toDense: () => toDense(shape, tiles),
    tileKinds: (batch = 0, head = 0) =>
      tileKinds(shape, tiles, broadcast("batch", batch, shape.batch), broadcast("head", head, shape.heads)),
    sparsity: () => sparsity(shape, tiles),
    transpose: () => transpose(shape, tiles),
    equals: (other) => equals(mask, other),
    toString: () => blockMaskText(mask),
  };
  return mask;
}

function broadcast(name: string, index: number, size: number): number {
  return size === 1 ? 0 : checkedIndex(name, index, size);
}

function toDense(shape: BlockMaskShape, tiles: MaskTiles): Uint8Array {
  const { batch: batches, heads, qLen, kvLen, predicate } = shape;
  const dense = new Uint8Array(batches * heads * qLen * kvLen);
  forEachSlice(shape, (batch, head) => {
    const slice = batch * heads + head;
    forEachTile(shape, tiles, slice, (row, column, kind) => {
      forEachElement(shape, row, column, (query, key) => {
        if (kind === 2 || predicate(query, key, batch, head)) dense[(slice * qLen + query) * kvLen + key] = 1;
      });
    });
  });
  return dense;
}

function tileKinds(shape: BlockMaskShape, tiles: MaskTiles, batch: number, head: number): Uint8Array {
  const kinds = new Uint8Array(shape.rows * shape.columns);
  forEachTile(shape, tiles, batch * shape.heads + head, (row, column, kind) => {
    kinds[row * shape.columns + column] = kind;
  });
  return kinds;
}

function sparsity({ batch, heads, qLen, kvLen, tile }: BlockMaskShape, { partial, full }: MaskTiles): number {
  const listed = partial.byRow.tiles.length + full.byRow.tiles.length;
  return 100 * (1 - (listed * tile[0] * tile[1]) / (batch * heads * qLen * kvLen));
}

function exchanged({ byRow, byColumn }: ListedTiles): ListedTiles {
  return { byRow: byColumn, byColumn: byRow };
}

function transpose(shape: BlockMaskShape, { partial, full }: MaskTiles): BlockMask {
  return makeBlockMask(
    {
      batch: shape.batch,
      heads: shape.heads,
      qLen: shape.kvLen,
      kvLen: shape.qLen,
      tile: [shape.tile[1], shape.tile[0]],
      rows: shape.columns,
      columns: shape.rows,
      predicate: (query, key, batch, head) => shape.predicate(key, query, batch, head),
    },
    { partial: exchanged(partial), full: exchanged(full) },
  );
}

function sizes(mask: BlockMask): string {
  return String([mask.batch, mask.heads, mask.qLen, mask.kvLen, mask.tile]);
}

function equals(a: BlockMask, b: BlockMask): boolean {
  let same = sizes(a) === sizes(b);
  if (!same) return false;
  forEachSlice(a, (batch, head) => {
    const kinds = b.tileKinds(batch, head);
    a.tileKinds(batch, head).forEach((kind, i) => {
      same &&= kind === kinds[i];
      if (!same || kind !== 1) return;
      forEachElement(a, Math.floor(i / a.columns), i % a.columns, (query, key) => {
        same &&= a.predicate(query, key, batch, head) === b.predicate(query, key, batch, head);
      });
    });
  });
  return same;
}

function forEachSlice({ batch, heads }: BlockMaskShape, visit: (batch: number, head: number) => void): void {
  for (let b = 0; b < batch; b++) {
    for (let head = 0; head < heads; head++) visit(b, head);
  }
}

/** Calls `visit` with kind 1 for the partial tiles and 2 for the full ones. */
function forEachTile(
  { rows }: BlockMaskShape,
  { partial, full }: MaskTiles,
  slice: number,
  visit: (row: number, column: number, kind: 1 | 2) => void,
): void {
  for (const [kind, { starts, tiles }] of [
    [1, partial.byRow],
    [2, full.byRow],
  ] as const) {
    for (let row = 0; row < rows; row++) {
      const line = slice * rows + row;
      for (let i = starts[line]!; i < starts[line + 1]!; i++) visit(row, tiles[i]!, kind);
    }
  }
}

function forEachElement(
  { qLen, kvLen, tile }: BlockMaskShape,
  row: number,
  column: number,
  visit: (query: number, key: number) => void,
): void {
  const queryEnd = Math.min(qLen, (row + 1) * tile[0]);
  const keyEnd = Math.min(kvLen, (column + 1) * tile[1]);
  for (let query = row * tile[0]; query < queryEnd; query++) {
    for (let key = column * tile[1]; key < keyEnd; key++) visit(query, key);
  }
}
