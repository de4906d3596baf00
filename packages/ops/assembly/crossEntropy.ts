import { log } from "./exp";
import { exponentials, indexOf, largest, multiplyBy } from "./vector";

/**
 * Cross-entropy of rows of logits against labels, and the index of each row's largest logit. Logits become their
 * gradient, weight·(softmax − onehot), when `gradients` is set; else their values are used up. A row of weight 0 has loss 0.
 */
export function crossEntropy(
  task: i32, thread: i32, rows: i32, chunk: i32, vocabulary: i32, logits: usize, labels: usize, weights: usize,
  losses: usize, predictions: usize, gradients: bool,
): void {
  const end = min(rows, (task + 1) * chunk);
  for (let row = task * chunk; row < end; row++) {
    const z = logits + row * vocabulary * 4;
    const weight = load<f32>(weights + row * 4);
    const most = largest(z, vocabulary);
    store<i32>(predictions + row * 4, indexOf(z, vocabulary, most));
    if (weight == 0) {
      store<f32>(losses + row * 4, 0);
      if (gradients) memory.fill(z, 0, vocabulary * 4);
      continue;
    }
    const label = z + load<i32>(labels + row * 4) * 4;
    const target = load<f32>(label);
    const sum = exponentials(z, vocabulary, most);
    store<f32>(losses + row * 4, most - target + log(sum));
    if (!gradients) continue;
    multiplyBy(z, vocabulary, weight / sum);
    store<f32>(label, load<f32>(label) - weight);
  }
}

/** Index of each row's largest value, the first of several. */
export function argmax(
  task: i32, thread: i32, rows: i32, chunk: i32, width: i32, x: usize, indices: usize,
): void {
  const end = min(rows, (task + 1) * chunk);
  for (let row = task * chunk; row < end; row++) {
    const at = x + row * width * 4;
    store<i32>(indices + row * 4, indexOf(at, width, largest(at, width)));
  }
}
