import type { DFlashDrafter } from "@dflash/drafter";
import type { Report, Timer } from "@dflash/timer";
import { type Part, parts } from "./createRounds.ts";
import { generate, type GenerateOptions } from "./generate.ts";
import type { Generation } from "./generation.ts";

/** How fast answers were generated. */
export interface GenerationSpeed {
  /** New tokens, the first of each answer aside: that comes with its prompt. */
  readonly tokens: number;
  /** Wall time without the prompts'. */
  readonly ms: number;
  /** Tokens over that time; null without tokens. */
  readonly tokensPerSecond: number | null;
  /** Wall time by part of the work, ms. */
  readonly sections: Readonly<Record<Part, number>>;
}

/** Settings of {@link compareSpeeds}. */
export interface CompareSpeedsOptions extends Omit<GenerateOptions, "drafter" | "timer"> {
  /** Proposes the tokens. */
  readonly drafter: DFlashDrafter;
  /** Times every generation as a step of its own. */
  readonly timer: Timer;
  /** Generate the answers by the target alone too. */
  readonly baseline: boolean;
  /** Called after every batch with the number of answers so far. */
  readonly onProgress?: (done: number) => void;
}

/** Answers by speculation and by the target alone, and how fast both came. */
export interface SpeedComparison {
  /** Those by speculation, one a prompt. */
  readonly answers: readonly Generation[];
  /** How fast they came. */
  readonly speculative: GenerationSpeed;
  /** Null without a baseline, as are the next two. */
  readonly alone: GenerationSpeed | null;
  /** Tokens per second of speculation over those of the target alone. */
  readonly speedUp: number | null;
  /** Answers that are equal, token by token. */
  readonly identical: number | null;
}

/** Generates answers batch by batch, each batch in turn by speculation and by the target alone, so that both meet the same machine. */
export async function compareSpeeds(options: CompareSpeedsOptions): Promise<SpeedComparison> {
  const { prompts, batch = 1, timer, drafter, baseline, signal, onProgress } = options;
  const [speculated, alone] = [createRun(timer), createRun(timer)];
  for (let start = 0; start < prompts.length; start += batch) {
    if (signal?.aborted) break;
    const group = {
      ...options,
      prompts: prompts.slice(start, start + batch),
      promptNumbers: prompts.slice(start, start + batch).map((_, i) => start + i),
    };
    await speculated.time(async () => generate({ ...group, drafter }));
    if (baseline) await alone.time(async () => generate({ ...group, drafter: null, blockSize: 1 }));
    onProgress?.(speculated.answers.length);
  }
  const speculative = speculated.speed();
  if (!baseline) return { answers: speculated.answers, speculative, alone: null, speedUp: null, identical: null };
  const slow = alone.speed();
  const [fastRate, slowRate] = [speculative.tokensPerSecond, slow.tokensPerSecond];
  const identical = speculated.answers.filter(({ ids }, i) => ids.join() === alone.answers[i]?.ids.join()).length;
  const speedUp = fastRate !== null && slowRate !== null ? fastRate / slowRate : null;
  return { answers: speculated.answers, speculative, alone: slow, speedUp, identical };
}

/** Answers and the time that they took. */
function createRun(timer: Timer) {
  const answers: Generation[] = [];
  const sections = { prefill: 0, draft: 0, verify: 0, sample: 0, crop: 0 };
  let wholeMs = 0;
  const add = (report: Report): void => {
    wholeMs += report.ms;
    for (const part of parts) sections[part] += report.sections[`speculate/${part}`]?.ms ?? 0;
  };
  return {
    answers,
    async time(run: () => Promise<Generation[]>): Promise<void> {
      timer.on("report", add);
      try {
        answers.push(...(await timer.step(run)));
      } finally {
        timer.off("report", add);
      }
    },
    speed(): GenerationSpeed {
      const tokens = answers.reduce((sum, { ids }) => sum + Math.max(0, ids.length - 1), 0);
      const ms = wholeMs - sections.prefill;
      return { tokens, ms, tokensPerSecond: tokens > 0 ? (1000 * tokens) / ms : null, sections };
    },
  };
}
