import { readFileSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";

/** In what precision float32 matrices are multiplied; everything else stays float32. */
export type MatmulPrecision = "fp32" | "bf16";

/** What TensorFlow runs with. */
export interface TensorflowSettings {
  readonly threads: number;
  readonly matmulPrecision: MatmulPrecision;
}

let settled: TensorflowSettings | null = null;

/**
 * Sets the environment that TensorFlow reads once, when its library loads, which must come next. What the user set stays.
 * Returns the settings that hold: those of the first call in this process. Without `gpu` TensorFlow is to see none.
 */
export function settleTensorflow(wanted: Partial<TensorflowSettings> & { readonly gpu: boolean }): TensorflowSettings {
  if (settled !== null) return settled;
  const { env } = process;
  env["TF_CPP_MIN_LOG_LEVEL"] ??= "2";
  // By itself it takes every large buffer from the system anew: in a training step a third of all time goes to page faults.
  env["TF_CPU_ALLOCATOR_USE_BFC"] ??= "true";
  env["TF_CPU_BFC_MEM_LIMIT_IN_MB"] ??= String(Math.floor(memoryLimit() / 2 ** 20));
  env["TF_FORCE_GPU_ALLOW_GROWTH"] ??= "true";
  if (!wanted.gpu) env["CUDA_VISIBLE_DEVICES"] = "-1";
  // Its own choice leaves them to CPUs with AVX-512; they are faster on others too.
  env["TF_ENABLE_ONEDNN_OPTS"] ??= "1";
  if (wanted.matmulPrecision === "bf16") {
    env["ONEDNN_DEFAULT_FPMATH_MODE"] ??= "BF16";
  } else {
    // On a GPU TensorFlow multiplies float32 in TensorFloat-32 by itself, which is also the nearest to bf16 there.
    env["NVIDIA_TF32_OVERRIDE"] ??= "0";
  }
  if (wanted.threads !== undefined) env["TF_NUM_INTRAOP_THREADS"] = String(wanted.threads);
  settled = {
    threads: Number(env["TF_NUM_INTRAOP_THREADS"]) || availableParallelism(),
    matmulPrecision: wanted.matmulPrecision ?? "fp32",
  };
  return settled;
}

/** Nine tenths of the memory that this process may have: beyond, TensorFlow says so instead of being killed. */
function memoryLimit(): number {
  // 0, or more than there is, where nothing constrains the process.
  const constrained = process.constrainedMemory?.() ?? 0;
  return 0.9 * (constrained > 0 ? Math.min(constrained, totalmem()) : totalmem());
}

/** Whether this CPU multiplies bf16; null where the system doesn't say. */
export function cpuMultipliesBf16(): boolean | null {
  try {
    return /^flags\s*:.*\b(avx512_bf16|amx_bf16)\b/m.test(readFileSync("/proc/cpuinfo", "utf8"));
  } catch {
    return null;
  }
}
