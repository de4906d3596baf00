/** C++ of what lies between attention's products: rows by head and back, and the softmax with its gradient. */
export const attentionOps = String.raw`
namespace cpu_ops {

// Rows of x [N, heads, D], of each run as many, as [runs, groups, a run's rows of the group's heads one head after
// another, D]: those of the indices, zeros beyond the last; all in order without indices.
static void take_heads(Call& call) {
  const Shape shape = call.shape(0);
  const int64_t heads = shape[1], size = shape[2], runs = call.ints(2)[0], groups = call.ints(2)[1];
  const bool in_order = call.size(1) == 0;
  const int64_t count = (in_order ? shape[0] : call.size(1)) / runs;
  call.expect(heads % groups == 0 && (!in_order || count * runs == shape[0]));
  float* y = call.output(0, {runs, groups, count * heads / groups, size});
  for (int64_t run = 0; run < runs; run++) {
    for (int64_t i = 0; i < count; i++) {
      const int64_t row = in_order ? run * count + i : call.ints(1)[run * count + i];
      const float* from = call.floats(0) + row * heads * size;
      float* to = y + (run * heads * count + i) * size;
      for (int64_t head = 0; head < heads; head++, from += size, to += count * size) {
        if (row < shape[0]) memcpy(to, from, size * sizeof(float));
        else memset(to, 0, size * sizeof(float));
      }
    }
  }
}

static void add_values(const float* x, int64_t size, float* y) {
  for (int64_t i = 0; i < size; i++) y[i] += x[i];
}

// The reverse: the sum of what all parts have for each row, zeros where none has any.
static void give_heads(Call& call) {
  const int parts = call.inputs() / 2;
  const int32_t* shape = call.ints(2 * parts);
  const int64_t rows = shape[0], heads = shape[1], size = shape[2];
  float* y = call.output(0, {rows, heads, size});
  memset(y, 0, rows * heads * size * sizeof(float));
  for (int part = 0; part < parts; part++) {
    const Shape own = call.shape(part);
    const int64_t runs = own[0], count = own[1] * own[2] / heads;
    const bool in_order = call.size(parts + part) == 0;
    call.expect(own[3] == size && (in_order ? rows : call.size(parts + part)) == runs * count);
    for (int64_t run = 0; run < runs; run++) {
      for (int64_t i = 0; i < count; i++) {
        const int64_t row = in_order ? run * count + i : call.ints(parts + part)[run * count + i];
        if (row >= rows) continue;
        const float* from = call.floats(part) + (run * heads * count + i) * size;
        float* to = y + row * heads * size;
        for (int64_t head = 0; head < heads; head++, from += count * size, to += size) add_values(from, size, to);
      }
    }
  }
}

static void share(const float* scores, const float* mask, float factor, int64_t keys, float* y) {
  float most = -INFINITY;
  for (int64_t i = 0; i < keys; i++) y[i] = factor * scores[i] + (mask == nullptr ? 0 : mask[i]);
#pragma omp simd reduction(max : most)
  for (int64_t i = 0; i < keys; i++) most = y[i] > most ? y[i] : most;
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < keys; i++) {
    y[i] = exponential(y[i] - most);
    sum += y[i];
  }
  const float part = 1 / sum;
  for (int64_t i = 0; i < keys; i++) y[i] *= part;
}

// softmax(factor·scores + mask) of scores [runs, groups, each of the group's heads × rows, keys], mask runs × rows × keys
// or nothing.
static void attention_shares(Call& call) {
  const Shape shape = call.shape(0);
  const int64_t keys = shape[3], rows = shape[1] * shape[2];
  const bool masked = call.size(1) > 0;
  const int64_t masks = masked ? call.size(1) / (shape[0] * keys) : rows;
  call.expect(rows % masks == 0 && (!masked || masks * shape[0] * keys == call.size(1)));
  float* y = call.output(0, shape);
  for (int64_t run = 0; run < shape[0]; run++) {
    for (int64_t row = 0; row < rows; row++) {
      const int64_t at = (run * rows + row) * keys;
      const float* mask = masked ? call.floats(1) + (run * masks + row % masks) * keys : nullptr;
      share(call.floats(0) + at, mask, *call.floats(2), keys, y + at);
    }
  }
}

// ds = factor·p·(dp − Σ p·dp) of each row of shares p.
static void shares_gradient(
    const float* p, const float* dp, float factor, int64_t rows, int64_t keys, float* ds) {
  for (int64_t row = 0; row < rows; row++, p += keys, dp += keys, ds += keys) {
    float along = 0;
#pragma omp simd reduction(+ : along)
    for (int64_t i = 0; i < keys; i++) along += p[i] * dp[i];
    for (int64_t i = 0; i < keys; i++) ds[i] = factor * p[i] * (dp[i] - along);
  }
}

static void attention_shares_gradient(Call& call) {
  call.expect(call.shape(0) == call.shape(1));
  const int64_t keys = call.last(0);
  shares_gradient(call.floats(0), call.floats(1), *call.floats(2), call.size(0) / keys, keys,
                  call.output(0, call.shape(0)));
}

}  // namespace cpu_ops
`;
