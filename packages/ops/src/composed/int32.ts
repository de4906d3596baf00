import * as tf from "@tensorflow/tfjs-core";

/** Host indices as a tensor. Copied: the JavaScript and the TensorFlow engine go on reading the array they are given. */
export const int32 = (values: Int32Array): tf.Tensor1D => tf.tensor1d(values.slice(), "int32");
