/** C++ of RMS norm, SwiGLU and rotary embedding, forward and backward: one pass over memory each. */
export const layerOps = String.raw`
namespace cpu_ops {

static void norm_rows(
    const float* x, const float* w, float epsilon, int64_t rows, int64_t size, float* y, float* inverse) {
  for (int64_t row = 0; row < rows; row++, x += size, y += size) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < size; i++) sum += x[i] * x[i];
    const float r = 1 / __builtin_sqrtf(sum / size + epsilon);
    for (int64_t i = 0; i < size; i++) y[i] = x[i] * r * w[i];
    inverse[row] = r;
  }
}

static void rms_norm(Call& call) {
  const int64_t size = call.size(1);
  call.expect(call.last(0) == size);
  const int64_t rows = call.size(0) / size;
  norm_rows(call.floats(0), call.floats(1), *call.floats(2), rows, size, call.output(0, call.shape(0)),
            call.output(1, {rows}));
}

// With r = 1/rms: dx = dy·w·r − x·Σ(dy·x·w)·r³/D, dw = Σ r·dy·x over rows.
static void norm_rows_gradient(
    const float* x, const float* w, const float* inverse, const float* dy, int64_t rows, int64_t size, float* dx,
    float* dw) {
  for (int64_t i = 0; i < size; i++) dw[i] = 0;
  for (int64_t row = 0; row < rows; row++, x += size, dy += size, dx += size) {
    const float r = inverse[row];
    float along = 0;
#pragma omp simd reduction(+ : along)
    for (int64_t i = 0; i < size; i++) along += dy[i] * x[i] * w[i];
    const float share = along * r * r * r / size;
#pragma omp simd
    for (int64_t i = 0; i < size; i++) {
      dx[i] = dy[i] * w[i] * r - x[i] * share;
      dw[i] += dy[i] * x[i] * r;
    }
  }
}

static void rms_norm_gradient(Call& call) {
  const int64_t size = call.size(1), rows = call.size(2);
  call.expect(call.size(0) == rows * size && call.size(3) == rows * size);
  norm_rows_gradient(call.floats(0), call.floats(1), call.floats(2), call.floats(3), rows, size,
                     call.output(0, call.shape(0)), call.output(1, {size}));
}

static void gate_values(const float* gate, const float* up, int64_t size, float* y) {
#pragma omp simd
  for (int64_t i = 0; i < size; i++) y[i] = gate[i] / (1 + exponential(-gate[i])) * up[i];
}

static void swiglu(Call& call) {
  call.expect(call.shape(0) == call.shape(1));
  gate_values(call.floats(0), call.floats(1), call.size(0), call.output(0, call.shape(0)));
}

// With s = sigmoid(g): dGate = dy·up·(s + g·s·(1 − s)), dUp = dy·g·s.
static void gate_values_gradient(
    const float* gate, const float* up, const float* dy, int64_t size, float* d_gate, float* d_up) {
#pragma omp simd
  for (int64_t i = 0; i < size; i++) {
    const float s = 1 / (1 + exponential(-gate[i]));
    const float swish = gate[i] * s;
    d_up[i] = dy[i] * swish;
    d_gate[i] = dy[i] * up[i] * (s + swish * (1 - s));
  }
}

static void swiglu_gradient(Call& call) {
  call.expect(call.shape(0) == call.shape(1) && call.shape(0) == call.shape(2));
  gate_values_gradient(call.floats(0), call.floats(1), call.floats(2), call.size(0), call.output(0, call.shape(0)),
                       call.output(1, call.shape(0)));
}

static void turn(
    const float* x, const float* cosines, const float* sines, float sign, int64_t heads, int64_t half, float* y) {
  for (int64_t head = 0; head < heads; head++, x += 2 * half, y += 2 * half) {
#pragma omp simd
    for (int64_t i = 0; i < half; i++) {
      const float s = sign * sines[i];
      y[i] = x[i] * cosines[i] - x[half + i] * s;
      y[half + i] = x[half + i] * cosines[i] + x[i] * s;
    }
  }
}

static void rotary(Call& call) {
  const Shape shape = call.shape(0);
  const int64_t half = call.last(1), row = shape[1] * shape[2];
  call.expect(shape[2] == 2 * half && call.size(3) == shape[0]);
  float* y = call.output(0, shape);
  for (int64_t i = 0; i < shape[0]; i++) {
    const int64_t at = call.ints(3)[i] * half;
    call.expect(at >= 0 && at < call.size(1));
    turn(call.floats(0) + i * row, call.floats(1) + at, call.floats(2) + at, *call.floats(4), shape[1], half,
         y + i * row);
  }
}

}  // namespace cpu_ops
`;
