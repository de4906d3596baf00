import type { RowRanges } from "@dflash/block-mask";
import type { DeviceValues } from "@dflash/engine";
import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import { attentionRuns, keyCount, type AttentionRun, type KeySpan } from "./attentionRuns.ts";
import type { TensorflowContext } from "./tensorflowContext.ts";

type AttentionKernels = Pick<Kernels<tf.Tensor>, "attention" | "attentionBackward">;

const keepDims = { keep_dims: true };

/** What a run's dispatches cost, in scores of one head. */
const overheadScores = { cpu: 32_768, gpu: 8_388_608 };
/** Scores that a run may have, all heads together. */
const mostScores = { cpu: 4_194_304, gpu: 134_217_728 };

/** Attention by runs of queries that see about the same keys: dense products over those, never queries × all keys. */
export function attentionKernels(context: TensorflowContext, device: "cpu" | "gpu"): AttentionKernels {
  const { kernel, part, op, host, ints, constant, reshape, rows, transpose, concat, product } = context;
  const known = new WeakMap<RowRanges, Map<number, readonly AttentionRun[]>>();

  /** Ranges are the same for all layers of a step, forward and backward. */
  const runsOf = (ranges: RowRanges, heads: number): readonly AttentionRun[] => {
    let byHeads = known.get(ranges);
    if (byHeads === undefined) known.set(ranges, (byHeads = new Map()));
    let runs = byHeads.get(heads);
    if (runs === undefined) {
      runs = attentionRuns(ranges, overheadScores[device] / heads, mostScores[device] / heads);
      byHeads.set(heads, runs);
    }
    return runs;
  };

  /** [rows, heads, D] as [groups, rows of the group's heads one head after another, D]. */
  const byGroup = (x: DeviceValues, groups: number): DeviceValues => {
    const [count, heads, size = 0] = x.shape;
    if (count === 1) return reshape(x, [groups, -1, size]);
    const byHead = transpose(x, [1, 0, 2]);
    return heads === groups ? byHead : reshape(byHead, [groups, -1, size]);
  };

  const byRow = (x: DeviceValues, heads: number): DeviceValues => {
    const [groups = 0, count = 0, size = 0] = x.shape;
    if (groups * count === heads) return reshape(x, [1, heads, size]);
    return transpose(heads === groups ? x : reshape(x, [heads, -1, size]), [1, 0, 2]);
  };

  const keysOf = (x: DeviceValues, spans: readonly KeySpan[]): DeviceValues => {
    const parts = spans.map(([start, end]) => (end - start === x.shape[0] ? x : rows(x, start, end)));
    return transpose(concat(parts, 0), [1, 0, 2]);
  };

  const rowsOf = (x: DeviceValues, { row, rowEnd }: AttentionRun): DeviceValues =>
    rowEnd - row === x.shape[0] ? x : rows(x, row, rowEnd);

  const zeros = (shape: readonly number[]): DeviceValues => op("Fill", [ints(...shape), constant(0, "float32")]);

  /** The runs' rows one after another, with zeros for rows that are in none. */
  const joinRows = (
    parts: readonly DeviceValues[],
    runs: readonly AttentionRun[],
    like: DeviceValues,
  ): DeviceValues => {
    const [length = 0, ...rest] = like.shape;
    const pieces: DeviceValues[] = [];
    let next = 0;
    for (const [i, { row, rowEnd }] of runs.entries()) {
      if (row > next) pieces.push(zeros([row - next, ...rest]));
      pieces.push(parts[i]!);
      next = rowEnd;
    }
    if (next < length || pieces.length === 0) pieces.push(zeros([length - next, ...rest]));
    return concat(pieces, 0);
  };

  /** The sum of what the runs have for each key, from keys × groups × D of each. */
  const joinKeys = (
    parts: readonly DeviceValues[],
    runs: readonly AttentionRun[],
    like: DeviceValues,
  ): DeviceValues => {
    const [length = 0, ...rest] = like.shape;
    const spans = runs.flatMap((run, i) =>
      run.spans.map(([start, end], which) => ({
        start,
        end,
        from: parts[i]!,
        at: which === 0 ? 0 : keyCount(run.spans.slice(0, 1)),
      })),
    );
    const edges = [...new Set([0, length, ...spans.flatMap(({ start, end }) => [start, end])])].toSorted(
      (a, b) => a - b,
    );
    const pieces = edges.slice(1).map((end, i) => {
      const start = edges[i]!;
      const addends = spans
        .filter((span) => span.start <= start && end <= span.end)
        .map((span) => {
          const from = span.at + start - span.start;
          return end - start === span.from.shape[0] ? span.from : rows(span.from, from, from + end - start);
        });
      return addends.length === 0 ? zeros([end - start, ...rest]) : addends.reduce((a, b) => op("AddV2", [a, b]));
    });
    return pieces.length === 0 ? zeros(like.shape) : concat(pieces, 0);
  };

  /** What share of each row each key has, of which one side is scaled. */
  const sharesOf = (run: AttentionRun, q: DeviceValues, k: DeviceValues, heads: number): DeviceValues => {
    const scores = product(q, k, "B");
    if (run.mask === null) return op("Softmax", [scores]);
    const [count, keys] = [run.rowEnd - run.row, keyCount(run.spans)];
    const masked = op("AddV2", [reshape(scores, [heads, count, keys]), host(run.mask, [count, keys])]);
    return reshape(op("Softmax", [masked]), scores.shape);
  };

  return {
    attention(query: tf.Tensor3D, key: tf.Tensor3D, value, ranges, scale) {
      const [heads, groups] = [query.shape[1], key.shape[1]];
      const runs = runsOf(ranges, heads);
      const [y, ...saved] = kernel([query, key, value], (q, k, v) => {
        // The smaller side: a cache's keys are many more than the queries of a round.
        const few = query.size < key.size;
        const scaled = op("Mul", [few ? q : k, constant(scale, "float32")]);
        const parts = runs.map((run) =>
          part(() => {
            const [rowsOfRun, keys] = [rowsOf(few ? scaled : q, run), keysOf(few ? k : scaled, run.spans)];
            const shares = sharesOf(run, byGroup(rowsOfRun, groups), keys, heads);
            return [byRow(product(shares, keysOf(v, run.spans)), heads), shares] as const;
          }),
        );
        const outputs = parts.map(([output]) => output);
        return [joinRows(outputs, runs, q), ...parts.map(([, shares]) => shares)];
      });
      return { y: y!, saved };
    },

    // With p the shares: dv = pᵀ·dy, ds = p·(dy·vᵀ − Σ dy·y), dq = ds·k·scale, dk = dsᵀ·q·scale.
    attentionBackward(query: tf.Tensor3D, key: tf.Tensor3D, value, output, saved, gradient, ranges, scale) {
      const [heads, groups] = [query.shape[1], key.shape[1]];
      const runs = runsOf(ranges, heads);
      const [dq, dk, dv] = kernel([query, key, value, output, gradient, ...saved], (q, k, v, y, dy, ...shares) => {
        const factor = constant(scale, "float32");
        const scaled = op("Mul", [k, factor]);
        const along = op("Sum", [op("Mul", [dy, y]), constant(2, "int32")], keepDims);
        const parts = runs.map((run, i) =>
          part(() => {
            const share = shares[i]!;
            const dOutput = byGroup(rowsOf(dy, run), groups);
            const dShares = op("Sub", [
              product(dOutput, keysOf(v, run.spans), "B"),
              byGroup(rowsOf(along, run), groups),
            ]);
            const dScores = op("Mul", [share, dShares]);
            return [
              byRow(product(dScores, keysOf(scaled, run.spans)), heads),
              byRow(product(dScores, byGroup(rowsOf(q, run), groups), "A"), groups),
              byRow(product(share, dOutput, "A"), groups),
            ] as const;
          }),
        );
        return [
          joinRows(
            parts.map(([ofRows]) => ofRows),
            runs,
            q,
          ),
          op("Mul", [
            joinKeys(
              parts.map(([, ofKeys]) => ofKeys),
              runs,
              k,
            ),
            factor,
          ]),
          joinKeys(
            parts.map(([, , ofValues]) => ofValues),
            runs,
            v,
          ),
        ];
      });
      return { dq: dq!, dk: dk!, dv: dv! };
    },
  };
}
