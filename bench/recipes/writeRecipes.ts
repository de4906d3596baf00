import { cpus } from "node:os";
import type { Measure, Run } from "./readRun.ts";
import type { Recipe } from "./recipes.ts";
import { evaluation, flagsOf } from "./trainRecipe.ts";

/** A recipe and what training by it came to. */
export interface Trained {
  readonly recipe: Recipe;
  readonly run: Run;
}

/** The runs as Markdown; the first one is the base, those after it whose names begin with `base` are others of its seeds. */
export function writeRecipes(all: readonly Trained[]): string {
  const bases = all.filter(({ recipe }) => recipe.name.startsWith("base"));
  const [base] = bases;
  if (base === undefined) throw new Error("no run is complete, expected the base at least");
  const command = `pnpm dflash train ${flagsOf(base.recipe)}`;
  return `# Recipes: acceptance against what training costs

Written by \`pnpm dflash bench recipes\`; don't edit. Each recipe makes one change to the base, which is the default
recipe of \`dflash train\`, shortened:

\`\`\`sh
${command}
\`\`\`

Steps are chosen so that every run costs about the base's FLOPs and ends its schedule there. Two measures, both of the drafter as
it was at that step:

- **real**: acceptance length by greedy speculative decoding of the first ${evaluation.prompts} GSM8K test prompts, at most ${evaluation.tokens} tokens each, halfway and at the end;
- **simulated**: joint acceptance length of the blocks of each training batch, before the step learns from it. Each record is seen once, so these
  are held-out too; they are many more (some 13,000 blocks a run), on the target's own answers. The figure is of the last fifth.

± is one standard error, rounds (real) or steps (simulated) taken as independent. All recipes meet the same prompts, and those with the base's
seed and rows the same records, so differences between recipes are somewhat surer than the errors say; another seed shows what chance does.
Above or below the base is what differs from all its seeds by more than two standard errors of the difference.

FLOPs are the products of the target's forward and of the drafter's forward, loss and backward: the trainer's count in its log, and the target's by its
shape. By hand for the base's first step (244 tokens, 64 blocks of 8, 430 supervised slots that see 88.4 keys each): features
2·244·1280·256 = 0.160 G; in each of two layers the context 2·244·256·256 = 0.032 G, the slots 2·512·786,432 = 0.805 G, attention 4·256·512·88.4 = 0.046 G; together 1.927 G.
The loss 4·430·256·4096 = 1.804 G, the backward pass 2·1.927 − 0.160 = 3.695 G. The log has these three. Six layers of the target
are 2.395 G more.

Seconds are **CPU time of the process** in one thread on the engine \`wasm\`, not wall time, because other work kept both cores busy;
start-up and evaluations are left out. CPU seconds of the same work differ by what shares the cache: ${spreadOfCost(all)}. Two cores of an ${cpus()[0]!.model.trim()} virtual machine, Node ${process.version}.

| recipe | change | steps | TFLOPs | CPU s | real, halfway | real, at the end | simulated, last fifth | beside the base |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |
${all.map((trained) => row(trained, bases)).join("\n")}

![Acceptance length against TFLOPs of training, a panel a recipe, the base grey](../pictures/recipes-flops.svg)

![Acceptance length against CPU seconds of training, a panel a recipe, the base grey](../pictures/recipes-cpu.svg)

In each panel the base is grey and the recipe blue; lines are simulated lengths by tenths of the run, dots real ones with two standard errors.
`;
}

const figure = ({ mean, error }: Measure): string => `${mean.toFixed(3)} ± ${error.toFixed(3)}`;

function row(trained: Trained, bases: readonly Trained[]): string {
  const { recipe, run } = trained;
  const [halfway, end] = run.real;
  const cells = [
    recipe.name,
    recipe.flags === "" ? "" : `\`${recipe.flags}\``,
    recipe.steps,
    run.end.teraFlops.toFixed(2),
    run.end.cpuSeconds?.toFixed(0) ?? "not logged",
    figure(halfway!),
    figure(end!),
    figure(run.lastFifth),
    bases.includes(trained)
      ? ""
      : comparison(
          run,
          bases.map((base) => base.run),
        ),
  ];
  return `| ${cells.join(" | ")} |`;
}

/** What differs clearly from the base, halfway and at the end. */
function comparison(run: Run, bases: readonly Run[]): string {
  const clear = (name: string, of: (run: Run) => Measure): string[] => {
    const signs = new Set(bases.map((base) => clearSign(of(run), of(base))));
    const [sign] = signs;
    return signs.size > 1 || sign === 0 ? [] : [`${name} ${sign === 1 ? "above" : "below"}`];
  };
  const found = [
    ...clear("real halfway", ({ real }) => real[0]!),
    ...clear("real", ({ real }) => real[1]!),
    ...clear("simulated", ({ lastFifth }) => lastFifth),
  ];
  return found.length === 0 ? "no clear difference" : found.join(", ");
}

/** Which way they differ; 0 when by two standard errors at most. */
function clearSign(own: Measure, other: Measure): number {
  const difference = own.mean - other.mean;
  return Math.abs(difference) > 2 * Math.hypot(own.error, other.error) ? Math.sign(difference) : 0;
}

/** From the least to the most CPU time a TFLOP of runs whose steps are of the same shape as the base's. */
function spreadOfCost(all: readonly Trained[]): string {
  const same = all.filter(({ recipe }) => recipe.steps === all[0]!.recipe.steps);
  const costs = same.flatMap(({ run: { end } }) => (end.cpuSeconds === null ? [] : end.cpuSeconds / end.teraFlops));
  return `from ${Math.min(...costs).toFixed(0)} to ${Math.max(...costs).toFixed(0)} a TFLOP in ${costs.length} runs with the base's shapes`;
}
