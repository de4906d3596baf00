import type { NamedRun } from "./drawCurves.ts";
import type { Measure } from "./readRun.ts";
import { evaluationAtScale, flagsAtScale, recipesAtScale } from "./recipesAtScale.ts";

/** The runs of `recipesAtScale`, in its order, as Markdown. */
export function writeAtScale(runs: readonly NamedRun[]): string {
  return `# Recipes at scale

Written by \`pnpm --filter @dflash/bench-recipes at-scale FOLDER\` from runs on a GPU; don't edit (\`pnpm dflash bench recipes\` is the same at a
small scale, without one). Each recipe makes one change, or two, to what drafters are judged by here, 1,500 steps of 32 records (48,000 in all, each of the data's about six times):

\`\`\`sh
pnpm dflash train ${flagsAtScale} --out FOLDER/NAME
pnpm dflash eval ${evaluationAtScale} --drafter FOLDER/NAME/drafter --json FOLDER/NAME/eval.json
\`\`\`

- **real**: acceptance length by greedy speculative decoding of the first 100 GSM8K test prompts, 128 tokens each, pooled over the rounds; on wasm.
- **simulated**: joint acceptance length of the training batches' blocks, before the step learns from them; mean of the last fifth of the run.
  After the first 230 steps or so the records have been seen before, so it is above the real one.

± is one standard error, rounds (real) or steps (simulated) taken as independent. One seed each, but the base: its other two seeds,
trained before and alone on the GPU, came to 3.270 and 3.363 in real length ([speculate](speculate.md#the-recipe)).

One NVIDIA H200 (16 Xeon cores), Node 20.20.2, fp32, 2026-11-30. To use the GPU fully, **the runs of a group (A, B, C) trained at the same time**:
seconds compare within a group only, and a run of the base alone takes 201 s. Those of group A had two others beside them for the first 470 s.

| recipe | change | group | TFLOPs | seconds | real | simulated |
| --- | --- | --- | ---: | ---: | ---: | ---: |
${runs.map(row).join("\n")}

![Acceptance length against TFLOPs of training, a panel a recipe, the base grey](../pictures/recipes-at-scale-flops.svg)

![Acceptance length against seconds of training, a panel a recipe, the base grey](../pictures/recipes-at-scale-wall.svg)

In each panel the base is grey and the recipe blue; lines are simulated lengths by tenths of the run, dots real ones with two standard errors.
`;
}

const figure = ({ mean, error }: Measure): string => `${mean.toFixed(3)} ± ${error.toFixed(3)}`;

function row([name, { end, real, lastFifth }]: NamedRun, i: number): string {
  const { flags, group } = recipesAtScale[i]!;
  const cells = [name, `\`${flags}\``, group, end.teraFlops.toFixed(0), end.wallSeconds.toFixed(0)];
  return `| ${[...cells, figure(real.at(-1)!), figure(lastFifth)].join(" | ")} |`;
}
