import * as tf from "@tensorflow/tfjs-core";

/** Frees every tensor that `fn` makes and does not return. tfjs's own `tidy` handles null parts too, but its type does not. */
export const tidy = <T>(fn: () => T): T => tf.tidy(fn as () => tf.TensorContainer) as T;
