import * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import { int32 } from "./int32.ts";
import { tidy } from "./tidy.ts";

/**
 * Cross-entropy without a whole row of logits: each tile of the vocabulary updates the rows' largest logit, their sum of
 * exponentials below it and the label's logit (online softmax, Milakov and Gimelshein 2018); the gradient's tiles come from
 * logits computed again.
 */
export const tiledCrossEntropyKernels: Pick<Kernels<tf.Tensor>, "tiledCrossEntropy"> = {
  tiledCrossEntropy: (x: tf.Tensor2D, weight: tf.Tensor2D, labels, weights, tile, needs) =>
    tidy(() => {
      const [rows, size] = x.shape;
      const chunks: ReturnType<typeof chunkCrossEntropy>[] = [];
      const dws: (tf.Tensor | null)[] = [];
      for (let start = 0; start < rows; start += tile.rows) {
        const end = Math.min(start + tile.rows, rows);
        const chunk: Chunk = {
          x: tf.slice(x, [start, 0], [end - start, size]),
          labels: labels.slice(start, end),
          weights: weights.slice(start, end),
        };
        const part = chunkCrossEntropy(chunk, headTiles(weight, tile.vocabulary), needs);
        for (const [i, dw] of part.dws.entries()) dws[i] = addUp(dws[i] ?? null, dw);
        chunks.push(part);
      }
      const rowLosses = tf.concat(
        chunks.map(({ losses }) => losses),
        0,
      );
      return {
        loss: tf.sum(tf.mul(rowLosses, tf.tensor1d(weights))),
        rowLosses,
        predictions: tf.concat(
          chunks.map(({ predictions }) => predictions),
          0,
        ),
        dx: needs.dx
          ? tf.concat(
              chunks.map(({ dx }) => dx!),
              0,
            )
          : null,
        dw: needs.dw
          ? tf.concat(
              dws.map((dw) => dw!),
              0,
            )
          : null,
      };
    }),
};

interface Chunk {
  readonly x: tf.Tensor2D;
  readonly labels: Int32Array;
  readonly weights: Float32Array;
}

/** Some words of the vocabulary: the first one's index, how many they are, and their rows of the head, which are copied. */
interface Tile {
  readonly first: number;
  readonly words: number;
  readonly head: () => tf.Tensor2D;
}

function headTiles(weight: tf.Tensor2D, length: number): Tile[] {
  const [vocabulary, size] = weight.shape;
  return Array.from({ length: Math.ceil(vocabulary / length) }, (_, i) => {
    const first = i * length;
    const words = Math.min(length, vocabulary - first);
    return { first, words, head: () => tf.slice(weight, [first, 0], [words, size]) };
  });
}

/** Losses, predictions and gradients of some rows; dws by tile. With z = logits, dz = weight·(softmax(z) − onehot). */
function chunkCrossEntropy(
  chunk: Chunk,
  tiles: readonly Tile[],
  needs: { dx: boolean; dw: boolean },
): { losses: tf.Tensor; predictions: tf.Tensor; dx: tf.Tensor | null; dws: (tf.Tensor | null)[] } {
  return tidy(() => {
    const { largest, sum, target, best } = readLogits(chunk, tiles);
    const counted = tf.tensor1d(chunk.weights.map((weight) => Number(weight !== 0)));
    const losses = tf.mul(tf.sub(tf.add(largest, tf.log(sum)), target), counted);
    let dx: tf.Tensor | null = null;
    const dws: (tf.Tensor | null)[] = [];
    for (const { first, words, head } of needs.dx || needs.dw ? tiles : []) {
      const part = tidy(() => {
        const columns = head();
        const exponentials = tf.exp(
          tf.sub(tf.matMul(chunk.x, columns, false, true), tf.expandDims<tf.Tensor2D>(largest, 1)),
        );
        const probabilities = tf.div(exponentials, tf.expandDims(sum, 1));
        const slopes: tf.Tensor2D = tf.mul(
          tf.sub(probabilities, oneHot(chunk.labels, first, words)),
          tf.expandDims(tf.tensor1d(chunk.weights), 1),
        );
        return {
          dx: needs.dx ? tf.matMul(slopes, columns) : null,
          dw: needs.dw ? tf.matMul(slopes, chunk.x, true, false) : null,
        };
      });
      dx = addUp(dx, part.dx);
      dws.push(part.dw);
    }
    return { losses, predictions: best, dx, dws };
  });
}

type RowState = Record<"largest" | "sum" | "target" | "best", tf.Tensor>;

/** Of each row: the largest logit and its index, Σ exp(logit − largest), and the label's logit. */
function readLogits({ x, labels }: Chunk, tiles: readonly Tile[]): RowState {
  const rows = x.shape[0];
  const none: RowState = {
    largest: tf.tensor1d(new Float32Array(rows).fill(-Infinity)),
    sum: tf.zeros([rows]),
    target: tf.zeros([rows]),
    best: tf.zeros([rows], "int32"),
  };
  return tiles.reduce(
    (state, { first, words, head }) =>
      tidy(() => {
        const logits = tf.matMul(x, head(), false, true);
        const most = tf.max(logits, 1);
        const largest = tf.maximum(state.largest, most);
        const before = tf.mul(state.sum, tf.exp(tf.sub(state.largest, largest)));
        const here = tf.sum(tf.exp(tf.sub(logits, tf.expandDims(largest, 1))), 1);
        const target = tf.sum(tf.mul(logits, oneHot(labels, first, words)), 1);
        const index = tf.add(tf.argMax(logits, 1), tf.scalar(first, "int32"));
        return {
          largest,
          sum: tf.add(before, here),
          target: tf.add(state.target, target),
          best: tf.where(tf.greater(most, state.largest), index, state.best),
        };
      }),
    none,
  );
}

/** 1 at each label that lies in the tile. */
function oneHot(labels: Int32Array, first: number, words: number): tf.Tensor {
  return tidy(() => {
    const inside = Float32Array.from(labels, (label) => Number(label >= first && label < first + words));
    const places = int32(labels.map((label, row) => (inside[row] ? label - first : 0)));
    // oneHot wants two columns at least.
    const hot = tf.slice(tf.cast(tf.oneHot(places, Math.max(2, words)), "float32"), [0, 0], [-1, words]);
    return tf.mul(hot, tf.expandDims(tf.tensor1d(inside), 1));
  });
}

/** The sum of both, in the place of both. */
function addUp(sum: tf.Tensor | null, part: tf.Tensor | null): tf.Tensor | null {
  if (sum === null || part === null) return sum ?? part;
  const total = tf.add(sum, part);
  sum.dispose();
  part.dispose();
  return total;
}
