import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import { eachElement, groupsFor, type WebgpuContext } from "./webgpuContext.ts";

type ElementwiseKernels = Pick<
  Kernels<tf.Tensor>,
  | "rotary"
  | "swiglu"
  | "swigluBackward"
  | "add"
  | "addInPlace"
  | "scale"
  | "scaleBy"
  | "scaleInPlace"
  | "scaleRowsInPlace"
  | "adamW"
>;

export function elementwiseKernels({ output, kernel, hosted }: WebgpuContext): ElementwiseKernels {
  const simple = (name: string, arrays: Parameters<typeof kernel>[0]["arrays"], code: string) =>
    kernel({ name, arrays, numbers: { count: "u32", factor: "f32" }, code: eachElement(code) });

  const rotate = kernel({
    name: "rotary",
    arrays: { x: "f32", cosines: "f32", sines: "f32", positions: "i32", y: "write f32" },
    numbers: { count: "u32", half: "u32", heads: "u32", sign: "f32" },
    code: eachElement(`
      let pair = i % a.half;
      let head = i / a.half;
      let angle = u32(positions[head / a.heads]) * a.half + pair;
      let at = head * 2u * a.half + pair;
      let c = cosines[angle];
      let s = a.sign * sines[angle];
      y[at] = x[at] * c - x[at + a.half] * s;
      y[at + a.half] = x[at + a.half] * c + x[at] * s;`),
  });
  // An exponent that stays finite: WGSL leaves open what becomes of infinities.
  const sigmoid = "let s = 1.0 / (1.0 + exp(min(-gate[i], 80.0)));";
  const gated = simple("swiglu", { gate: "f32", up: "f32", y: "write f32" }, `${sigmoid} y[i] = gate[i] * s * up[i];`);
  const gatedBack = simple(
    "swiglu's gradient",
    { gate: "f32", up: "f32", dy: "f32", dGate: "write f32", dUp: "write f32" },
    `${sigmoid}
     dUp[i] = dy[i] * gate[i] * s;
     dGate[i] = dy[i] * up[i] * (s + gate[i] * s * (1.0 - s));`,
  );
  const sum = simple("add", { x: "f32", z: "f32", y: "write f32" }, "y[i] = x[i] + z[i];");
  const addTo = simple("add in place", { y: "write f32", x: "f32" }, "y[i] += x[i];");
  const scaled = simple("scale", { x: "f32", y: "write f32" }, "y[i] = x[i] * a.factor;");
  const scaledBy = simple("scale by", { x: "f32", by: "f32", y: "write f32" }, "y[i] = x[i] * by[0];");
  const scaleThis = simple("scale in place", { y: "write f32" }, "y[i] *= a.factor;");
  const scaleRows = kernel({
    name: "scale rows in place",
    arrays: { y: "write f32", factors: "f32" },
    numbers: { count: "u32", width: "u32" },
    code: eachElement("y[i] *= factors[i / a.width];"),
  });
  const update = kernel({
    name: "adamW",
    arrays: { parameter: "write f32", gradient: "f32", mean: "write f32", variance: "write f32" },
    numbers: {
      count: "u32",
      beta1: "f32",
      rest1: "f32",
      beta2: "f32",
      rest2: "f32",
      root: "f32",
      epsilon: "f32",
      rate: "f32",
      keep: "f32",
    },
    code: eachElement(`
      let g = gradient[i];
      let m = a.beta1 * mean[i] + a.rest1 * g;
      let v = a.beta2 * variance[i] + a.rest2 * g * g;
      mean[i] = m;
      variance[i] = v;
      parameter[i] = parameter[i] * a.keep - a.rate * m / (sqrt(v) / a.root + a.epsilon);`),
  });

  const scaleInPlace = (x: tf.Tensor, factor: number): void => scaleThis([x], [x.size, factor], groupsFor(x.size));

  return {
    rotary(x: tf.Tensor3D, cos, sin, positions, sign) {
      const [, heads, size] = x.shape;
      const y = output(x.shape);
      const pairs = x.size / 2;
      hosted(positions, (places) => rotate([x, cos, sin, places, y], [pairs, size / 2, heads, sign], groupsFor(pairs)));
      return y;
    },
    swiglu(gate, up) {
      const y = output(gate.shape);
      gated([gate, up, y], [y.size, 0], groupsFor(y.size));
      return { y, saved: [] };
    },
    swigluBackward(gate, up, _saved, dy) {
      const [dGate, dUp] = [output(gate.shape), output(gate.shape)];
      gatedBack([gate, up, dy, dGate, dUp], [dy.size, 0], groupsFor(dy.size));
      return { dGate, dUp };
    },
    add(x, z) {
      const y = output(x.shape);
      sum([x, z, y], [y.size, 0], groupsFor(y.size));
      return y;
    },
    addInPlace(y, x) {
      // No array may be both read and written.
      if (x.dataId === y.dataId) scaleInPlace(y, 2);
      else addTo([y, x], [y.size, 0], groupsFor(y.size));
    },
    scale(x, factor) {
      const y = output(x.shape);
      scaled([x, y], [y.size, factor], groupsFor(y.size));
      return y;
    },
    scaleBy(x, factor) {
      const y = output(x.shape);
      scaledBy([x, factor, y], [y.size, 0], groupsFor(y.size));
      return y;
    },
    scaleInPlace,
    scaleRowsInPlace(x, factors) {
      hosted(factors, (values) => scaleRows([x, values], [x.size, x.size / factors.length], groupsFor(x.size)));
    },
    adamW(parameter, gradient, mean, variance, { learningRate, beta1, beta2, epsilon, weightDecay, step }) {
      const rates = [beta1, 1 - beta1, beta2, 1 - beta2, Math.sqrt(1 - beta2 ** step), epsilon];
      const numbers = [parameter.size, ...rates, learningRate / (1 - beta1 ** step), 1 - learningRate * weightDecay];
      update([parameter, gradient, mean, variance], numbers, groupsFor(parameter.size));
    },
  };
}
