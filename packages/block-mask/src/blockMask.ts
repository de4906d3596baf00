import { checkedIndex } from "./checkArgument.ts";
import { blockMaskText } from "./drawBlockMask.ts";
import type { MaskPredicate } from "./maskPredicate.ts";

/**
 * FlexAttention's lists of the tiles that must be computed: partial ones, where the predicate decides element by element, and
 * full ones, where all is visible. By row of tiles: numBlocks is [batch, heads, rows], and indices, [batch, heads, rows, columns],
 * holds in each row that many columns, ascending; what follows them means nothing. The q lists are the same by column:
 * [batch, heads, columns] and [batch, heads, columns, rows].
 */
export interface TileLists {
  readonly kvNumBlocks: Int32Array;
  readonly kvIndices: Int32Array;
  readonly fullKvNumBlocks: Int32Array;
  readonly fullKvIndices: Int32Array;
  readonly qNumBlocks: Int32Array;
  readonly qIndices: Int32Array;
  readonly fullQNumBlocks: Int32Array;
  readonly fullQIndices: Int32Array;
}

/** What a mask covers. */
export interface BlockMaskShape {
  /** Batch elements; 1 stands for any number of equal ones. */
  readonly batch: number;
  /** Heads; 1 stands for any number of equal ones. */
  readonly heads: number;
  readonly qLen: number;
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

/** Puts the methods to the lists of a mask. */
export function makeBlockMask(shape: BlockMaskShape, lists: TileLists): BlockMask {
  const mask: BlockMask = {
    ...shape,
    ...lists,
    visible: (query, key, batch = 0, head = 0) =>
      shape.predicate(
        checkedIndex("query", query, shape.qLen),
        checkedIndex("key", key, shape.kvLen),
        broadcast("batch", batch, shape.batch),
        broadcast("head", head, shape.heads),
      ),
    toDense: () => toDense(mask),
    tileKinds: (batch = 0, head = 0) =>
      tileKinds(mask, broadcast("batch", batch, shape.batch), broadcast("head", head, shape.heads)),
    sparsity: () => sparsity(mask),
    transpose: () => transpose(mask),
    equals: (other) => equals(mask, other),
    toString: () => blockMaskText(mask),
  };
  return mask;
}

function broadcast(name: string, index: number, size: number): number {
  return size === 1 ? 0 : checkedIndex(name, index, size);
}

function toDense(mask: BlockMask): Uint8Array {
  const dense = new Uint8Array(mask.batch * mask.heads * mask.qLen * mask.kvLen);
  forEachSlice(mask, (batch, head) => {
    const slice = batch * mask.heads + head;
    forEachTile(mask, batch, head, (row, column, kind) => {
      forEachElement(mask, row, column, (query, key) => {
        if (kind === 2 || mask.predicate(query, key, batch, head))
          dense[(slice * mask.qLen + query) * mask.kvLen + key] = 1;
      });
    });
  });
  return dense;
}

function tileKinds(mask: BlockMask, batch: number, head: number): Uint8Array {
  const kinds = new Uint8Array(mask.rows * mask.columns);
  forEachTile(mask, batch, head, (row, column, kind) => {
    kinds[row * mask.columns + column] = kind;
  });
  return kinds;
}

function sparsity(mask: BlockMask): number {
  const { batch, heads, qLen, kvLen, tile } = mask;
  let tiles = 0;
  for (const count of mask.kvNumBlocks) tiles += count;
  for (const count of mask.fullKvNumBlocks) tiles += count;
  return 100 * (1 - (tiles * tile[0] * tile[1]) / (batch * heads * qLen * kvLen));
}

function transpose(mask: BlockMask): BlockMask {
  return makeBlockMask(
    {
      batch: mask.batch,
      heads: mask.heads,
      qLen: mask.kvLen,
      kvLen: mask.qLen,
      tile: [mask.tile[1], mask.tile[0]],
      rows: mask.columns,
      columns: mask.rows,
      predicate: (query, key, batch, head) => mask.predicate(key, query, batch, head),
    },
    {
      kvNumBlocks: mask.qNumBlocks,
      kvIndices: mask.qIndices,
      fullKvNumBlocks: mask.fullQNumBlocks,
      fullKvIndices: mask.fullQIndices,
      qNumBlocks: mask.kvNumBlocks,
      qIndices: mask.kvIndices,
      fullQNumBlocks: mask.fullKvNumBlocks,
      fullQIndices: mask.fullKvIndices,
    },
  );
}

function sizes(mask: BlockMask): string {
  return String([mask.batch, mask.heads, mask.qLen, mask.kvLen, mask.tile]);
}

function equals(a: BlockMask, b: BlockMask): boolean {
  let same = sizes(a) === sizes(b);
  if (!same) return false;
  forEachSlice(a, (batch, head) => {
    const kinds = tileKinds(b, batch, head);
    same &&= tileKinds(a, batch, head).every((kind, i) => kind === kinds[i]);
    forEachTile(a, batch, head, (row, column, kind) => {
      if (!same || kind === 2) return;
      forEachElement(a, row, column, (query, key) => {
        same &&= a.predicate(query, key, batch, head) === b.predicate(query, key, batch, head);
      });
    });
  });
  return same;
}

function forEachSlice(mask: BlockMask, visit: (batch: number, head: number) => void): void {
  for (let batch = 0; batch < mask.batch; batch++) {
    for (let head = 0; head < mask.heads; head++) visit(batch, head);
  }
}

function forEachTile(
  mask: BlockMask,
  batch: number,
  head: number,
  visit: (row: number, column: number, kind: 1 | 2) => void,
): void {
  const first = (batch * mask.heads + head) * mask.rows;
  for (let row = 0; row < mask.rows; row++) {
    const at = (first + row) * mask.columns;
    for (let i = 0; i < mask.kvNumBlocks[first + row]!; i++) visit(row, mask.kvIndices[at + i]!, 1);
    for (let i = 0; i < mask.fullKvNumBlocks[first + row]!; i++) visit(row, mask.fullKvIndices[at + i]!, 2);
  }
}

function forEachElement(
  { qLen, kvLen, tile }: BlockMask,
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
