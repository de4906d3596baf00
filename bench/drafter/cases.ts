/** A drafter's step: what is trained on how much. */
export interface StepCase {
  readonly name: string;
  readonly hiddenSize: number;
  readonly intermediateSize: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly vocabSize: number;
  readonly features: number;
  readonly layers: number;
  readonly blockSize: number;
  /** Rows of a batch, all of this length; the first `prompt` tokens are not supervised. */
  readonly rows: number;
  readonly length: number;
  readonly prompt: number;
  readonly anchors: number;
}

/** The tiny target's shape. */
const tiny = {
  hiddenSize: 256,
  intermediateSize: 768,
  heads: 8,
  kvHeads: 4,
  headDim: 32,
  vocabSize: 4096,
  features: 5,
  layers: 2,
};

export const cases: readonly StepCase[] = [
  { name: "default: 2 × 32 blocks of 8", ...tiny, blockSize: 8, rows: 2, length: 128, prompt: 32, anchors: 32 },
  { name: "larger: 4 × 64 blocks of 16", ...tiny, blockSize: 16, rows: 4, length: 256, prompt: 32, anchors: 64 },
];
