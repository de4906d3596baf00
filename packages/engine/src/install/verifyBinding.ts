import { runCommand } from "./runCommand.ts";

/** What a working binding says of itself. */
export interface VerifiedBinding {
  /** TensorFlow's version. */
  readonly version: string;
  /** Whether it computes on a GPU. */
  readonly gpu: boolean;
}

/** With f(x) = Σ (x·w)², the gradient is 2·(x·w)·wᵀ. */
const check = `
const util = require("node:util");
util.isNullOrUndefined = (value) => value === null || value === undefined;
util.isArray = Array.isArray;
const tf = require(process.argv[1]);
const x = tf.tensor2d([1, 2, 3, 4], [2, 2]);
const w = tf.tensor2d([5, 6, 7, 8], [2, 2]);
const { value, grad } = tf.valueAndGrad((x) => tf.sum(tf.square(tf.matMul(x, w))))(x);
const { binding } = tf.backend();
console.log(JSON.stringify({
  version: binding.TF_Version,
  gpu: binding.isUsingGpuDevice(),
  value: [...value.dataSync()],
  gradient: [...grad.dataSync()],
}));
`;

/**
 * Computes a product and a gradient with the binding in a process of its own, which may die of it.
 * @throws Error of one line when it does not load or computes something else.
 */
export async function verifyBinding(packageFolder: string): Promise<VerifiedBinding> {
  const output = await runCommand(process.execPath, ["--no-deprecation", "-e", check, packageFolder]);
  const { version, gpu, value, gradient } = JSON.parse(output.trim().split("\n").at(-1) ?? "{}");
  const got = [...value, ...gradient].join(", ");
  const expected = "5194, 454, 618, 1030, 1402";
  if (got !== expected) throw new Error(`TensorFlow ${version} computes ${got}, expected ${expected}`);
  return { version, gpu };
}
