import { attentionOps } from "./attentionOps.ts";
import { call } from "./call.ts";
import { layerOps } from "./layerOps.ts";
import { updateOps } from "./updateOps.ts";

/**
 * C++ that registers ops of our own with TensorFlow, where its headers have the C API for that, and lists them in the
 * binding's exports as `cpuOps`. TensorFlow has none that do as much in one pass, and each of its own wakes sleeping threads
 * for work that takes less time than waking them. These compute in the calling thread.
 */
export const cpuOps = `
#if __has_include("tensorflow/c/kernels.h") && __has_include("tensorflow/c/ops.h")
${call}${layerOps}${attentionOps}${updateOps}
#if defined(__x86_64__)
#pragma GCC pop_options
#endif
#include <initializer_list>
#include <string>

namespace cpu_ops {

// The binding may be loaded on another CPU than it was compiled on.
static bool fits_cpu() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
#else
  return true;
#endif
}

template <void (*compute)(Call&)>
void run(void*, TF_OpKernelContext* context) {
  Call call(context);
  try {
    compute(call);
  } catch (const Refused&) {
    // The context knows why.
  }
}

template <void (*compute)(Call&)>
void register_op(std::vector<std::string>& added, const char* name, std::initializer_list<const char*> inputs,
                 std::initializer_list<const char*> outputs, const char* attribute = nullptr) {
  TF_OpDefinitionBuilder* definition = TF_NewOpDefinitionBuilder(name);
  if (attribute != nullptr) TF_OpDefinitionBuilderAddAttr(definition, attribute);
  for (const char* input : inputs) TF_OpDefinitionBuilderAddInput(definition, input);
  for (const char* output : outputs) TF_OpDefinitionBuilderAddOutput(definition, output);
  TF_Status* status = TF_NewStatus();
  TF_RegisterOpDefinition(definition, status);
  if (TF_GetCode(status) == TF_OK)
    TF_RegisterKernelBuilder(name, TF_NewKernelBuilder(name, "CPU", nullptr, run<compute>, nullptr), status);
  if (TF_GetCode(status) == TF_OK) added.push_back(name);
  TF_DeleteStatus(status);
}

static std::vector<std::string> register_all() {
  std::vector<std::string> added;
  if (!fits_cpu()) return added;
  register_op<rms_norm>(added, "DflashRmsNorm", {"x: float", "weight: float", "epsilon: float"},
                        {"y: float", "inverse: float"});
  register_op<rms_norm_gradient>(added, "DflashRmsNormGradient",
                                 {"x: float", "weight: float", "inverse: float", "dy: float"},
                                 {"dx: float", "dw: float"});
  register_op<swiglu>(added, "DflashSwiglu", {"gate: float", "up: float"}, {"y: float"});
  register_op<swiglu_gradient>(added, "DflashSwigluGradient", {"gate: float", "up: float", "dy: float"},
                               {"dgate: float", "dup: float"});
  register_op<rotary>(added, "DflashRotary",
                      {"x: float", "cosines: float", "sines: float", "positions: int32", "sign: float"}, {"y: float"});
  register_op<take_heads>(added, "DflashTakeHeads", {"x: float", "rows: int32", "extents: int32"}, {"y: float"});
  register_op<give_heads>(added, "DflashGiveHeads", {"parts: count * float", "rows: count * int32", "shape: int32"},
                          {"y: float"}, "count: int >= 1");
  register_op<attention_shares>(added, "DflashAttentionShares", {"scores: float", "mask: float", "factor: float"},
                                {"y: float"});
  register_op<attention_shares_gradient>(added, "DflashAttentionSharesGradient",
                                         {"shares: float", "dshares: float", "factor: float"}, {"dscores: float"});
  register_op<adam_w>(added, "DflashAdamW",
                      {"parameter: float", "gradient: float", "mean: float", "variance: float", "numbers: float"},
                      {"newparameter: float", "newmean: float", "newvariance: float"});
  register_op<sum_of_squares>(added, "DflashSumOfSquares", {"x: float"}, {"y: float"});
  register_op<add>(added, "DflashAdd", {"a: float", "b: float"}, {"y: float"});
  register_op<scale>(added, "DflashScale", {"x: float", "factor: float"}, {"y: float"});
  return added;
}

}  // namespace cpu_ops

static inline void add_cpu_ops(napi_env env, napi_value exports) {
  // Once a process, whose threads each load the binding.
  static const std::vector<std::string> added = cpu_ops::register_all();
  napi_value names;
  napi_create_array(env, &names);
  for (size_t i = 0; i < added.size(); i++) {
    napi_value name;
    napi_create_string_utf8(env, added[i].c_str(), NAPI_AUTO_LENGTH, &name);
    napi_set_element(env, names, i, name);
  }
  napi_set_named_property(env, exports, "cpuOps", names);
}
#else
static inline void add_cpu_ops(napi_env, napi_value) {}
#endif
`;
