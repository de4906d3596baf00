import { availableParallelism, cpus } from "node:os";
import { naive, type Settings, written } from "./settings.ts";
import type { Run } from "./runTraining.ts";
import { commonVerdict, middle, type Stage, type Study, type StudyOptions } from "./study.ts";

/** What each change is, for a reader. */
const changes: Readonly<Record<string, string>> = {
  "--target-workers 1":
    "the target moves to a thread of its own, which works ahead of the drafter and packs and hands over batch n while the drafter is at batch n - 1",
  "--target-workers 2": "the target gets a second thread",
  "--min-ready 1": "a step begins as soon as one batch is ready",
  "--queue 8": "the target may be eight batches ahead",
  "--split-features": "features are handed over layer by layer, without joining them",
  "--buckets auto": "rows are padded to a few lengths, so that shapes come again",
};

/** Sections that a breakdown shows, the target's in its own lanes. */
const shown = ["queue/wait", "queue/receive", "target/forward", "target/pack", "target/hand-over"];
const drafter = ["drafter/forward", "drafter/loss", "drafter/backward"];

const rate = ({ tokensPerSecond }: Run): string => tokensPerSecond.toFixed(0);
const change = ({ change: made }: Stage): string => (made ? `${made.setting} ${made.value}`.trim() : "");
const command = (settings: Settings, steps: number): string =>
  `pnpm dflash train --engine wasm --steps ${steps} ${written(settings)}`;
const percent = (share: number): string => `${(100 * share).toFixed(0)} %`;

/** What the text says beside the figures. */
export interface StudyText extends Pick<StudyOptions, "rounds" | "steps"> {
  /** About the machine, in a sentence. */
  readonly note: string;
}

/** The study as Markdown, with what another engine made of it. */
export function writeStudy(study: Study, other: Study | null, { rounds, steps, note }: StudyText): string {
  const { stages } = study;
  const studies = other ? [study, other] : [study];
  const [first, last] = [middle(stages[0]!), middle(stages.at(-1)!)];
  return `# Case study: where a naive loop loses its time

Written by \`pnpm dflash bench case-study\`; don't edit. It trains on the default data with \`${written(naive)}\`, reads the verdict in the log's last record, makes the one change that it asks for, and goes on until a verdict asks for none that is left. Then all stages run again in turn, ${rounds} times in all; figures are those of the run in the middle, the range is from the slowest to the fastest. ${availableParallelism()} cores, ${cpus()[0]?.model.trim()}, Node ${process.version}, engine \`wasm\`; load of the machine before the runs ${loads(studies)}. ${note}

From ${rate(first)} to ${rate(last)} tokens/s: ${times(study)} as fast.

${overviews(study)}

${stages.map((_, i) => section(study, i, steps)).join("\n\n")}

${other ? `## The same on TensorFlow\n\nThe same path, led by the verdicts of these runs; ${times(other)} as fast at its end.\n\n${overviews(other)}\n\n` : ""}## Changes that no verdict asked for

The last stage with one change more, to see whether the verdicts were right to pass it over. Why buckets and split features have little to gain here is in [the target's benchmark](benchmarks/target-forward.md). And, for comparison, the naive loop with both cores for its one engine.

${studies.map(controls).join("\n\n")}

Buckets make fewer shapes and pay for it with padding; splitting saves the joining of the features. What there is to be gained:

| engine | token counts of the batches, with buckets | padding, with buckets | tokens/s with buckets | joining, part of the target's forward | tokens/s split |
| --- | ---: | ---: | ---: | ---: | ---: |
${studies.map(gains).join("\n")}
`;
}

const times = ({ stages }: Study): string =>
  `${(middle(stages.at(-1)!).tokensPerSecond / middle(stages[0]!).tokensPerSecond).toFixed(2)} times`;

const header = (first: string): string =>
  `| ${first} | tokens/s (range) | ms a step | drafter waits | target beside it | verdict (share; runs that say so) |\n| --- | ---: | ---: | ---: | ---: | --- |`;

const overviews = ({ stages }: Study): string =>
  [
    header("stage"),
    ...stages.map((stage, i) => overview(`${i + 1}. ${i === 0 ? "the naive loop" : `\`${change(stage)}\``}`, stage)),
  ].join("\n");

const controls = ({ engine, stages, controls: all }: Study): string =>
  [
    header(`\`${engine}\``),
    overview("none: the last stage", stages.at(-1)!),
    ...all.map((stage, i) => overview(`${i === all.length - 1 ? "naive, " : ""}\`${change(stage)}\``, stage)),
  ].join("\n");

/** What buckets and splitting did to the last stage. */
function gains({ engine, stages, controls: all }: Study): string {
  const last = middle(stages.at(-1)!);
  const withChange = (setting: string): Run =>
    middle([...all, ...stages].find((stage) => stage.change?.setting === setting)!);
  const [bucketed, split] = [withChange("--buckets"), withChange("--split-features")];
  const against = (run: Run): string => `${(run.tokensPerSecond / last.tokensPerSecond).toFixed(2)} of without`;
  const joining = (last.sections.get("target/pack") ?? 0) / last.sections.get("target/forward")!;
  return `| \`${engine}\` | ${last.shapes}, ${bucketed.shapes} | ${percent(last.padding)}, ${percent(bucketed.padding)} | ${against(bucketed)} | ${(100 * joining).toFixed(1)} % | ${against(split)} |`;
}

function loads(studies: readonly Study[]): string {
  const stages = studies.flatMap((study) => [...study.stages, ...study.controls]);
  const all = stages.flatMap(({ runs }) => runs.map(({ load }) => load));
  return `${Math.min(...all).toFixed(1)} to ${Math.max(...all).toFixed(1)}`;
}

function overview(name: string, stage: Stage): string {
  const run = middle(stage);
  const rates = stage.runs.map(({ tokensPerSecond }) => tokensPerSecond);
  const range = `${Math.min(...rates).toFixed(0)} to ${Math.max(...rates).toFixed(0)}`;
  const waits = percent((run.sections.get("queue/wait") ?? 0) / run.msPerStep);
  const beside = percent(run.targetMs > 0 ? run.besideMs / run.targetMs : 0);
  return `| ${name} | ${rate(run)} (${range}) | ${run.msPerStep.toFixed(0)} | ${waits} | ${beside} | ${verdict(stage)} |`;
}

function verdict(stage: Stage): string {
  const { cause, count } = commonVerdict(stage);
  const shares = stage.runs.filter((run) => run.verdict.cause === cause).map((run) => run.verdict.share);
  return `${cause} (${percent(shares.reduce((sum, share) => sum + share, 0) / count)}; ${count} of ${stage.runs.length})`;
}

function section({ stages, predictions }: Study, i: number, steps: number): string {
  const stage = stages[i]!;
  const before = stages[i - 1];
  const next = stages[i + 1];
  const title = before ? `\`${change(stage)}\`: ${changes[change(stage)] ?? "another setting"}` : "The naive loop";
  const prediction = predictions[i - 1];
  const lines = [
    `## ${i + 1}. ${title}`,
    `\`\`\`sh\n${command(stage.settings, steps)}\n\`\`\``,
    breakdown(stage, before),
  ];
  if (before && prediction) {
    const was = middle(stage).tokensPerSecond;
    const off = prediction.tokensPerSecond / was - 1;
    lines.push(
      `Asked before, \`dflash log RUN --what-if ${prediction.asked}\` predicted ${prediction.tokensPerSecond} tokens/s; the run had ${was.toFixed(0)}: ${(100 * Math.abs(off)).toFixed(0)} % ${off < 0 ? "more" : "less"} than predicted.`,
    );
  }
  lines.push(
    next
      ? `Verdict: **${verdict(stage)}**. It asks for \`${change(next)}\`.`
      : `Verdict: **${verdict(stage)}**. No change that it asks for is left.`,
  );
  return lines.join("\n\n");
}

const of = ({ sections }: Run, names: readonly string[]): number =>
  names.reduce((sum, name) => sum + (sections.get(name) ?? 0), 0);

function breakdown(stage: Stage, before: Stage | undefined): string {
  const run = middle(stage);
  const former = before && middle(before);
  const row = (name: string, value: (from: Run) => number): string =>
    `| ${name} | ${former ? `${value(former).toFixed(1)} | ` : ""}${value(run).toFixed(1)} |`;
  return [
    former ? "| ms a step | before | now |\n| --- | ---: | ---: |" : "| ms a step | |\n| --- | ---: |",
    row("the step", ({ msPerStep }) => msPerStep),
    ...shown
      .filter((name) => of(run, [name]) > 0 || (former && of(former, [name]) > 0))
      .map((name) => row(name, (from) => of(from, [name]))),
    ...drafter.map((name) => row(name, (from) => of(from, [name]))),
  ].join("\n");
}
