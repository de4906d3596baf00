/** A recipe at the scale that drafters are judged at. */
export interface RecipeAtScale {
  /** Also the name of its run's folder. */
  readonly name: string;
  /** Flags of `dflash train` beside `flagsAtScale`. */
  readonly flags: string;
  /** Runs that trained on the same GPU at the same time: only theirs compare in wall time. */
  readonly group: "A" | "B" | "C";
}

/** Of every run. */
export const flagsAtScale = "--engine webgpu --steps 1500 --rows 32 --anchors 64 --gamma 4";

/** Of every evaluation. */
export const evaluationAtScale = "--prompts 100 --max-new-tokens 128 --batch 16 --no-baseline";

/** The first one is the base. */
export const recipesAtScale: readonly RecipeAtScale[] = [
  { name: "base", flags: "--seed 2", group: "B" },
  { name: "gamma-2", flags: "--gamma 2", group: "A" },
  { name: "rate-x2", flags: "--learning-rate 2e-3", group: "A" },
  { name: "rate-x4", flags: "--learning-rate 4e-3", group: "B" },
  { name: "d-pace", flags: "--loss d-pace", group: "B" },
  { name: "d-pace-seed-1", flags: "--loss d-pace --seed 1", group: "C" },
  { name: "d-pace-rate-x2", flags: "--loss d-pace --learning-rate 2e-3", group: "C" },
  { name: "d-pace-anchors-32", flags: "--loss d-pace --anchors 32", group: "C" },
];
