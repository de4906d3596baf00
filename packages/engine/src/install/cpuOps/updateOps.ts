/** C++ of AdamW, of the sum that a gradient's norm is the root of, and of sums and multiples. */
export const updateOps = String.raw`
namespace cpu_ops {

// std::sqrt, compiled for any CPU, would keep the loop from becoming vector instructions.
// With the numbers [decay, β₁, 1 − β₁, β₂, 1 − β₂, rate / (1 − β₁ᵗ), 1 / √(1 − β₂ᵗ), ε].
static void update_values(
    const float* parameter, const float* gradient, const float* mean, const float* variance, const float* numbers,
    int64_t size, float* new_parameter, float* new_mean, float* new_variance) {
  const float decay = numbers[0], beta1 = numbers[1], rest1 = numbers[2], beta2 = numbers[3], rest2 = numbers[4];
  const float rate = numbers[5], root = numbers[6], epsilon = numbers[7];
#pragma omp simd
  for (int64_t i = 0; i < size; i++) {
    const float m = beta1 * mean[i] + rest1 * gradient[i];
    const float v = beta2 * variance[i] + rest2 * gradient[i] * gradient[i];
    new_parameter[i] = decay * parameter[i] - rate * m / (__builtin_sqrtf(v) * root + epsilon);
    new_mean[i] = m;
    new_variance[i] = v;
  }
}

static void adam_w(Call& call) {
  const Shape shape = call.shape(0);
  for (int i = 1; i < 4; i++) call.expect(call.shape(i) == shape);
  call.expect(call.size(4) == 8);
  update_values(call.floats(0), call.floats(1), call.floats(2), call.floats(3), call.floats(4), call.size(0),
                call.output(0, shape), call.output(1, shape), call.output(2, shape));
}

static float squares(const float* x, int64_t size) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < size; i++) sum += x[i] * x[i];
  return sum;
}

static void sum_of_squares(Call& call) {
  const int64_t size = call.size(0), at_once = 4096;
  double sum = 0;
  for (int64_t i = 0; i < size; i += at_once) sum += squares(call.floats(0) + i, size - i < at_once ? size - i : at_once);
  *call.output(0, {}) = sum;
}

static void sums(const float* a, const float* b, int64_t size, float* y) {
  for (int64_t i = 0; i < size; i++) y[i] = a[i] + b[i];
}

static void add(Call& call) {
  call.expect(call.shape(0) == call.shape(1));
  sums(call.floats(0), call.floats(1), call.size(0), call.output(0, call.shape(0)));
}

static void multiples(const float* x, float factor, int64_t size, float* y) {
  for (int64_t i = 0; i < size; i++) y[i] = factor * x[i];
}

static void scale(Call& call) {
  call.expect(call.size(1) == 1);
  multiples(call.floats(0), *call.floats(1), call.size(0), call.output(0, call.shape(0)));
}

}  // namespace cpu_ops
`;
