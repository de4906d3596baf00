/** C++ of a head's softmax, short of its division. */
export const headOps = String.raw`
namespace cpu_ops {

static float shifted_exponentials(const float* logits, int64_t size, float* shifted, float* exponentials) {
  float most = -INFINITY;
#pragma omp simd reduction(max : most)
  for (int64_t i = 0; i < size; i++) most = logits[i] > most ? logits[i] : most;
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < size; i++) {
    shifted[i] = logits[i] - most;
    exponentials[i] = exponential(shifted[i]);
    sum += exponentials[i];
  }
  return sum;
}

// z - max z of each row of logits, e to the power of that, and the rows' sums of it.
static void head_softmax(Call& call) {
  const Shape shape = call.shape(0);
  const int64_t rows = shape[0], size = shape[1];
  float* shifted = call.output(0, shape);
  float* exponentials = call.output(1, shape);
  float* sums = call.output(2, {rows, 1});
  for (int64_t row = 0; row < rows; row++) {
    const int64_t at = row * size;
    sums[row] = shifted_exponentials(call.floats(0) + at, size, shifted + at, exponentials + at);
  }
}

}  // namespace cpu_ops
`;
