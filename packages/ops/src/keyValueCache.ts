import type { Ops } from "./ops.ts";
import type { Tensor } from "./tensor.ts";

/** What attention reads of tokens in one layer, [K, kvHeads, headDim] each; keys are normed and rotated. */
export interface KeysValues {
  /** What queries are compared with. */
  readonly keys: Tensor;
  /** What they take. */
  readonly values: Tensor;
}

/** Settings of {@link createKeyValueCache}. */
export interface KeyValueCacheOptions {
  /** What the tensors are made with. */
  readonly ops: Ops;
  /** What errors call it, such as `target cache`. */
  readonly name: string;
  /** Layers, each with keys and values of its own. */
  readonly layers: number;
  /** Heads of keys and values. */
  readonly kvHeads: number;
  /** Values of a head. */
  readonly headDim: number;
}

/** What is kept of one sequence, positions 0 to length − 1. */
export interface CachedSequence {
  /** Positions held. */
  readonly length: number;
  /** Keeps the first `length` positions, without moving anything. @throws {RangeError} For more than are held. */
  crop(length: number): void;
  /** Gives the place back. */
  dispose(): void;
}

/** Where new positions of some sequences go. */
export interface CachePlaces {
  /** Position of each in its sequence, sequence by sequence, [T]. */
  readonly positions: Int32Array;
  /** Row of each among the cache's keys, [T]. */
  readonly rows: Int32Array;
  /** Row of the first position of each sequence; the others follow one by one. */
  readonly starts: Int32Array;
  /** Rows of the cache's keys, held or not: `keyLength` of `RowRanges` over them. */
  readonly keyLength: number;
  /** Adds the positions to their sequences, once all layers are written; without it, what comes next is written over them. */
  keep(): void;
}

/**
 * Keys and values of the sequences that one model generates. All of them lie in one tensor a layer, each sequence in a stretch
 * of rows, so that attention reads them where they are: what a query sees of them is said by its ranges. Adding writes in
 * place, cropping changes a number; the stretches double when a sequence outgrows them.
 */
export interface KeyValueCache {
  /** A new sequence, empty. */
  open(): CachedSequence;
  /**
   * Makes room for new positions behind those of each sequence.
   *
   * @throws {TypeError} For a sequence of another cache, a disposed one, or one that is named twice.
   */
  place(additions: readonly { readonly sequence: CachedSequence; readonly count: number }[]): CachePlaces;
  /** Writes the new positions' keys and values, [T, kvHeads, headDim], and gives those of all rows, which stay the cache's. */
  write(layer: number, places: CachePlaces, added: KeysValues): KeysValues;
}

/** A sequence's stretch of rows. */
interface Stretch {
  readonly index: number;
  length: number;
}

/** Rows of the first stretch. */
const leastCapacity = 64;

/** A cache without a sequence; it takes memory when positions are placed, and frees it when the last sequence is disposed. */
export function createKeyValueCache({ ops, name, layers, kvHeads, headDim }: KeyValueCacheOptions): KeyValueCache {
  const sequences = new Map<CachedSequence, Stretch>();
  let tensors: readonly KeysValues[] = [];
  let capacity = 0;
  let stretches = 0;

  const free = (): void => {
    for (const { keys, values } of tensors) for (const tensor of [keys, values]) tensor.dispose();
    tensors = [];
    capacity = 0;
    stretches = 0;
  };

  const firstFree = (): number => {
    const taken = new Set(Array.from(sequences.values(), ({ index }) => index));
    let index = 0;
    while (taken.has(index)) index++;
    return index;
  };

  /** Rows of everything held, in stretches of `size`. */
  const heldRows = (size: number): Int32Array =>
    Int32Array.from(
      Array.from(sequences.values()).flatMap(({ index, length }) =>
        Array.from({ length }, (_, position) => index * size + position),
      ),
    );

  /** Moves what is held to tensors that have room for `most` positions of every sequence. */
  const reserve = (most: number): void => {
    const needed = 1 + Math.max(...Array.from(sequences.values(), ({ index }) => index));
    if (most <= capacity && needed <= stretches) return;
    const size = Math.max(capacity, leastCapacity, 2 ** Math.ceil(Math.log2(most)));
    const count = Math.max(stretches, needed);
    const [from, to] = [heldRows(capacity), heldRows(size)];
    const moved = (old: Tensor | undefined): Tensor => {
      const tensor = ops.zeros([count * size, kvHeads, headDim]);
      if (old !== undefined && from.length > 0) {
        const held = ops.gather(old, from);
        ops.writeRows(tensor, to, held);
        held.dispose();
      }
      return tensor;
    };
    const next = ops.unscoped(() =>
      Array.from({ length: layers }, (_, layer) => ({
        keys: moved(tensors[layer]?.keys),
        values: moved(tensors[layer]?.values),
      })),
    );
    free();
    tensors = next;
    capacity = size;
    stretches = count;
  };

  return {
    open() {
      const stretch: Stretch = { index: firstFree(), length: 0 };
      const sequence: CachedSequence = {
        get length() {
          return stretch.length;
        },
        crop(length) {
          if (!Number.isInteger(length) || length < 0 || length > stretch.length)
            throw new RangeError(`${name}: length is ${length}, expected an integer from 0 to ${stretch.length}`);
          stretch.length = length;
        },
        dispose() {
          stretch.length = 0;
          if (sequences.delete(sequence) && sequences.size === 0) free();
        },
      };
      sequences.set(sequence, stretch);
      return sequence;
    },
    place(additions) {
      const added = additions.map(({ sequence, count }, i) => {
        const stretch = sequences.get(sequence);
        const is = stretch === undefined ? "of another model or disposed" : "named twice";
        if (stretch === undefined || additions.findIndex((other) => other.sequence === sequence) < i)
          throw new TypeError(`${name}: the sequence of row ${i} is ${is}, expected one of its own, once`);
        return { stretch, count };
      });
      reserve(added.reduce((most, { stretch, count }) => Math.max(most, stretch.length + count), 0));
      const total = added.reduce((sum, { count }) => sum + count, 0);
      const [positions, rows] = [new Int32Array(total), new Int32Array(total)];
      const starts = Int32Array.from(added, ({ stretch }) => stretch.index * capacity);
      let at = 0;
      for (const [i, { stretch, count }] of added.entries()) {
        for (let position = stretch.length; position < stretch.length + count; position++) {
          positions[at] = position;
          rows[at++] = starts[i]! + position;
        }
      }
      const keep = (): void => {
        for (const { stretch, count } of added) stretch.length += count;
      };
      return { positions, rows, starts, keyLength: capacity * stretches, keep };
    },
    write(layer, { rows }, { keys, values }) {
      const own = tensors[layer]!;
      ops.writeRows(own.keys, rows, keys);
      ops.writeRows(own.values, rows, values);
      return own;
    },
  };
}
