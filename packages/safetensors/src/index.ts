export { bfloat16ToFloat32, float32ToBfloat16 } from "./bfloat16.ts";
export type { Dtype, TensorArray } from "./dtype.ts";
export { firstNonFinite } from "./firstNonFinite.ts";
export { float16ToFloat32, float32ToFloat16 } from "./float16.ts";
export { openCheckpoint } from "./openCheckpoint.ts";
export { openSafetensors, type Safetensors, type TensorData } from "./openSafetensors.ts";
export type { SafetensorsHeader, TensorInfo } from "./parseHeader.ts";
export { writeAtomically } from "./writeAtomically.ts";
export { writeSafetensors } from "./writeSafetensors.ts";
