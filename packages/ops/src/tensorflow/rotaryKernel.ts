import type { DeviceValues } from "@dflash/engine";
import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import type { TensorflowContext } from "./tensorflowContext.ts";

/** Angles kept: of the queries and of the keys, of a target and of its drafter. */
const mostKept = 4;

/** Cosines [c, c] and sines [−s, s] of the rows' positions, rows × 1 × D each. */
interface Angles {
  readonly table: readonly [cos: object, sin: object];
  readonly positions: Int32Array;
  readonly cosines: DeviceValues;
  readonly sines: DeviceValues;
}

const isEqual = (a: Int32Array, b: Int32Array): boolean =>
  a.length === b.length && a.every((value, i) => value === b[i]);

/**
 * Each half is turned with the other: y = x·[c, c] + [x₂, x₁]·[−s, s]. All layers of a step turn by the same angles, forward
 * and backward, so that the last few are kept.
 */
export function rotaryKernel({
  raw,
  single,
  part,
  hold,
  op,
  host,
  constant,
  reshape,
  concat,
}: TensorflowContext): Kernels<tf.Tensor>["rotary"] {
  /** The one used longest ago comes first. */
  const kept: Angles[] = [];

  const makeAngles = (cos: tf.Tensor, sin: tf.Tensor, positions: Int32Array): Angles => {
    const own = positions.slice();
    const places = host(own);
    const [c, s] = [cos, sin].map((table) => op("GatherV2", [raw.values(table), places, constant(0, "int32")]));
    const wide = (left: DeviceValues, right: DeviceValues): DeviceValues =>
      reshape(concat([left, right], 1), [own.length, 1, 2 * cos.shape[1]!]);
    const [cosines, sines] = part(() => [wide(c!, c!), wide(op("Neg", [s!]), s!)] as const);
    hold(cosines);
    hold(sines);
    return { table: [cos.dataId, sin.dataId], positions: own, cosines, sines };
  };

  const anglesOf = (cos: tf.Tensor, sin: tf.Tensor, positions: Int32Array): Angles => {
    const at = kept.findIndex(
      ({ table, positions: known }) => table[0] === cos.dataId && table[1] === sin.dataId && isEqual(known, positions),
    );
    const angles = at >= 0 ? kept.splice(at, 1)[0]! : makeAngles(cos, sin, positions);
    kept.push(angles);
    if (kept.length > mostKept) {
      const { cosines, sines } = kept.shift()!;
      raw.free(cosines);
      raw.free(sines);
    }
    return angles;
  };

  return (x: tf.Tensor3D, cos, sin, positions, sign) =>
    single([x], (values) => {
      const { cosines, sines } = anglesOf(cos, sin, positions);
      const swapped = op("Roll", [values, constant(x.shape[2] / 2, "int32"), constant(2, "int32")]);
      const across = op("Mul", [swapped, sines]);
      return op(sign === 1 ? "AddV2" : "Sub", [op("Mul", [values, cosines]), across]);
    });
}
