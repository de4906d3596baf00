/** C++ that every op is written with: what it is called with, in TensorFlow's C API for kernels. */
export const call = String.raw`
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"
#include "tensorflow/c/tf_tensor.h"

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("arch=haswell")
#endif

namespace cpu_ops {

using Shape = std::vector<int64_t>;

struct Refused {};

class Call {
 public:
  explicit Call(TF_OpKernelContext* context) : context_(context), status_(TF_NewStatus()), inputs_(TF_NumInputs(context)) {
    for (size_t i = 0; i < inputs_.size(); i++) TF_GetInput(context, i, &inputs_[i], status_);
  }
  ~Call() {
    for (TF_Tensor* tensor : inputs_) TF_DeleteTensor(tensor);
    TF_DeleteStatus(status_);
  }

  int inputs() const { return inputs_.size(); }
  const float* floats(int i) const { return static_cast<const float*>(TF_TensorData(inputs_[i])); }
  const int32_t* ints(int i) const { return static_cast<const int32_t*>(TF_TensorData(inputs_[i])); }
  int64_t size(int i) const { return TF_TensorElementCount(inputs_[i]); }
  Shape shape(int i) const {
    Shape extents;
    for (int axis = 0; axis < TF_NumDims(inputs_[i]); axis++) extents.push_back(TF_Dim(inputs_[i], axis));
    return extents;
  }
  int64_t last(int i) const { return TF_Dim(inputs_[i], TF_NumDims(inputs_[i]) - 1); }

  float* output(int i, const Shape& shape) {
    size_t bytes = sizeof(float);
    for (int64_t extent : shape) bytes *= extent;
    TF_Tensor* made = TF_AllocateOutput(context_, i, TF_FLOAT, shape.data(), shape.size(), bytes, status_);
    if (TF_GetCode(status_) != TF_OK) refuse();
    float* values = static_cast<float*>(TF_TensorData(made));
    TF_DeleteTensor(made);  // The context holds it.
    return values;
  }

  void expect(bool fits) {
    if (fits) return;
    TF_SetStatus(status_, TF_INVALID_ARGUMENT, "Incompatible shapes");
    refuse();
  }

 private:
  [[noreturn]] void refuse() {
    TF_OpKernelContext_Failure(context_, status_);
    throw Refused();
  }

  TF_OpKernelContext* context_;
  TF_Status* status_;
  std::vector<TF_Tensor*> inputs_;
};

// e^x as 2^n e^r with |r| <= ln 2 / 2, the polynomial of Cephes' expf, without a branch, so that loops of it become vector
// instructions. Below -87.7 it is 0: of n = -127 no bit is left.
static inline __attribute__((always_inline)) float exponential(float x) {
  const float bounded = x > 88.0f ? 88.0f : x < -88.0f ? -88.0f : x;
  const float nearest = 12582912.0f;  // 1.5 * 2^23, whose last bit is worth 1.
  const float shifted = bounded * 1.44269504f + nearest;
  const float n = shifted - nearest;
  const float r = bounded - n * 0.693359375f + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  int32_t bits;
  memcpy(&bits, &shifted, sizeof bits);
  bits = (bits - 0x4b400000 + 127) * (1 << 23);
  float power;
  memcpy(&power, &bits, sizeof power);
  return p * power;
}

}  // namespace cpu_ops
`;
