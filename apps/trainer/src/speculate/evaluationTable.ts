import type { Acceptance, GenerationSpeed, SpeedComparison } from "@dflash/speculate";

/** What `dflash eval` writes. */
export interface EvaluationResult extends Omit<SpeedComparison, "answers"> {
  readonly engine: string;
  readonly target: string;
  readonly drafter: string;
  readonly data: string;
  /** Answers counted. */
  readonly prompts: number;
  /** Prompts left out because they were too long. */
  readonly skipped: number;
  readonly maxNewTokens: number;
  readonly blockSize: number;
  readonly temperature: number;
  readonly seed: number;
  readonly batch: number;
  readonly acceptance: Acceptance;
  /** Answers that ended with a stop token. */
  readonly finished: number;
}

const share = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`;

/** An evaluation for a reader. */
export function evaluationTable(result: EvaluationResult): string[] {
  const { target, drafter, data, prompts, skipped, finished, acceptance, blockSize, temperature, maxNewTokens, batch } =
    result;
  const { speculative, alone, speedUp, identical } = result;
  const how = temperature === 0 ? "greedy" : `temperature ${temperature}`;
  return [
    `target     ${target}`,
    `drafter    ${drafter}, blocks of ${blockSize}`,
    `prompts    ${prompts} of ${data}, ${batch} at a time, ${how}, at most ${maxNewTokens} new ${maxNewTokens === 1 ? "token" : "tokens"}; ${finished} answers ended by themselves`,
    ...(skipped === 0 ? [] : [`skipped    ${skipped}, too long for the positions with their answers`]),
    "",
    ...acceptanceLines(acceptance, blockSize),
    "",
    speedLine("speculative", speculative),
    ...(alone === null ? [] : [speedLine("alone", alone)]),
    ...(speedUp === null ? [] : [`speed-up             ${speedUp.toFixed(2)} times`]),
    ...(identical === null ? [] : [`same answers         ${identical} of ${prompts}`]),
  ];
}

function acceptanceLines({ rounds, pooled, perResponse, histogram, bySlot }: Acceptance, blockSize: number): string[] {
  if (pooled === null || perResponse === null || bySlot === null) return ["acceptance length    no round was needed"];
  const most = Math.max(...histogram);
  return [
    `acceptance length    ${pooled.toFixed(3)} pooled over ${rounds} rounds, ${perResponse.toFixed(3)} per response (1 to ${blockSize})`,
    "",
    "length     rounds             accepted at slot",
    ...histogram.map((count, i) => {
      const bar = "█".repeat(Math.round((20 * count) / most)).padEnd(20);
      const slot = i === 0 ? "" : `${i}: ${share(bySlot[i - 1]!, 1)}`;
      return `${String(i + 1).padStart(6)}  ${share(count, rounds).padStart(7)}  ${bar}  ${slot}`.trimEnd();
    }),
  ];
}

function speedLine(name: string, { tokensPerSecond, ms, sections }: GenerationSpeed): string {
  if (tokensPerSecond === null) return `${name.padEnd(21)}no token after the prompts' own`;
  const { prefill: _, ...parts } = sections;
  const shares = Object.entries(parts)
    .filter(([, partMs]) => partMs > 0)
    .map(([part, partMs]) => `${part} ${share(partMs, ms)}`);
  return `${name.padEnd(21)}${tokensPerSecond.toFixed(1)} tokens/s  (${shares.join(", ")})`;
}
