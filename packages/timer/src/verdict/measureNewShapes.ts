import type { JudgedStep } from "./judgedStep.ts";

/** Every shape is new in a run's first steps, which are slow for other reasons too. */
const FIRST_STEPS = 4;
/** Steps after those that a judgement needs. */
const ENOUGH = 8;
/** Shapes that keep coming are in the later half of the steps at least this share of what they were in the earlier half. */
const KEEP_COMING = 0.5;

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
/** An evaluation in a step has shapes and time of its own, which say nothing of training. */
const counts = ({ report }: JudgedStep): boolean => report.step > FIRST_STEPS && !report.tags.includes("eval");
const shapesOf = ({ report }: JudgedStep): number => report.causes?.newShapes ?? 0;

/**
 * What new tensor shapes cost a step, ms: by the slope of the steps' times over their numbers of new shapes.
 * 0 unless the two go together and new shapes keep coming after the run's first steps; steps marked `eval` are left out.
 */
export function measureNewShapes(steps: readonly JudgedStep[]): (step: JudgedStep) => number {
  const later = steps.filter(counts);
  const shapes = later.map(shapesOf);
  const half = shapes.length >> 1;
  const keepComing = sum(shapes.slice(-half)) > KEEP_COMING * sum(shapes.slice(0, half));
  if (later.length < ENOUGH || !keepComing) return () => 0;
  const ms = later.map(({ report }) => report.ms);
  const [meanShapes, meanMs] = [sum(shapes) / shapes.length, sum(ms) / ms.length];
  const products = sum(shapes.map((count, i) => (count - meanShapes) * (ms[i]! - meanMs)));
  const variance = sum(shapes.map((count) => (count - meanShapes) ** 2));
  const correlation = products / Math.sqrt(variance * sum(ms.map((time) => (time - meanMs) ** 2)));
  if (!(correlation > 0.5)) return () => 0;
  return (step) => (counts(step) ? (products / variance) * shapesOf(step) : 0);
}
