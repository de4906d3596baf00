import * as tf from "@tensorflow/tfjs-core";

/** Frees every tensor that `fn` makes and does not return. tfjs's own `tidy` handles null parts too, but its type does not. */
// oxlint-disable-next-line no-unsafe-type-assertion -- the same function under a wider type
export const tidy: <T>(fn: () => T) => T = tf.tidy as never;
