export { attention, attentionBackward } from "./attention";
export { argmax, crossEntropy } from "./crossEntropy";
export { distillation } from "./distillation";
export { adamW, add, scale, sumOfSquares, swiglu, swigluBackward } from "./elementwise";
export { multiply, multiplyTasks, productBytes } from "./gemm";
export { rmsNorm, rmsNormBackward, rmsNormWeightBackward, sumRows } from "./norm";
export { pack, packParts } from "./pack";
export { copyRows, gatherRows, rotary, scatterAddRows } from "./rows";
