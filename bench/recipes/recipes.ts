/** A way to train the drafter. */
export interface Recipe {
  /** Short; also the name of its run's folder. */
  readonly name: string;
  /** Flags of `dflash train` beside the base's. */
  readonly flags: string;
  /** Chosen so that a whole run costs about the base's FLOPs. */
  readonly steps: number;
}

/** Steps of the base. */
const baseSteps = 200;

/** One change each; `cost` is what a step costs in FLOPs, relative to the base's. */
const recipe = (name: string, flags: string, cost = 1): Recipe => ({
  name,
  flags,
  steps: Math.round(baseSteps / cost),
});

/** In the order in which they are trained. The first ones are the base, with different seeds. */
export const recipes: readonly Recipe[] = [
  recipe("base", ""),
  recipe("base-seed-1", "--seed 1"),
  recipe("rate-x2", "--learning-rate 2e-3"),
  recipe("d-pace", "--loss d-pace"),
  recipe("layers-1", "--layers 1", 0.744),
  recipe("anchors-64", "--anchors 64", 1.663),
  recipe("rows-1", "--rows 1", 0.5),
  recipe("anchors-16", "--anchors 16", 0.667),
  recipe("rows-1-d-pace", "--rows 1 --loss d-pace", 0.5),
  recipe("features-1", "--features 1", 0.924),
  recipe("wsd", "--schedule wsd"),
  recipe("gamma-2", "--gamma 2"),
  recipe("rate-x4", "--learning-rate 4e-3"),
  recipe("layers-3", "--layers 3", 1.256),
  recipe("gamma-none", "--gamma 0"),
  recipe("constant", "--schedule constant"),
  recipe("features-3", "--features 3", 0.985),
  recipe("rate-half", "--learning-rate 5e-4"),
  recipe("rows-4-anchors-16", "--rows 4 --anchors 16", 1.335),
  recipe("soft-target", "--loss soft-target", 1.18),
];
