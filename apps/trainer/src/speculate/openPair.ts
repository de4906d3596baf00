import { type CausalLM, loadCausalLM } from "@dflash/causal-lm";
import { type ChatTokenizer, loadTokenizer } from "@dflash/chat-data";
import { type DFlashDrafter, loadDrafter } from "@dflash/drafter";
import { type Engine, type EngineName, type MatmulPrecision, startEngine } from "@dflash/engine";
import { createOps, type Ops } from "@dflash/ops";
import { createTimer, type Timer } from "@dflash/timer";
import { observeCauses } from "@dflash/timer/causes";
import { forCaller, fromCaller } from "../callerFolder.ts";
import { defaultTarget } from "../defaultTarget.ts";
import { drafterFolder } from "../drafterFolder.ts";
import { fetchTarget } from "../train/fetchTarget.ts";

/** What the commands that generate have in common. */
export interface PairFlags {
  target?: string;
  drafter?: string;
  engine?: EngineName | "auto";
  threads?: number;
  matmulPrecision?: MatmulPrecision;
  blockSize?: number;
}

/** A target with its tokenizer, and a drafter where one is named, on an engine. */
export interface Pair {
  readonly engine: Engine;
  readonly ops: Ops;
  readonly timer: Timer;
  readonly targetFolder: string;
  readonly target: CausalLM;
  readonly tokenizer: ChatTokenizer;
  /** Tokens that end an answer. */
  readonly stopIds: readonly number[];
  /** Null when none is named, as is the next. */
  readonly drafterFolder: string | null;
  readonly drafter: DFlashDrafter | null;
  /** Tokens that a prompt and its answer may have together. */
  readonly maxPositions: number;
  dispose(): void;
}

/** Loads what the flags name. */
export async function openPair(flags: PairFlags): Promise<Pair> {
  const targetFolder = flags.target === undefined ? defaultTarget : await fetchTarget(flags.target);
  if (flags.blockSize !== undefined && flags.drafter === undefined)
    throw new Error(`--block-size ${flags.blockSize}: blocks are a drafter's; give --drafter too, or leave it out`);
  const folder = flags.drafter === undefined ? null : await drafterFolder(fromCaller(flags.drafter));
  const tokenizer = await loadTokenizer(targetFolder);
  const { threads, matmulPrecision } = flags;
  const engine = await startEngine(flags.engine ?? "auto", {
    ...(threads === undefined ? {} : { threads }),
    ...(matmulPrecision === undefined ? {} : { matmulPrecision }),
  });
  const ops = createOps(engine);
  const timer = createTimer();
  observeCauses(timer, engine.counters);
  const target = await loadCausalLM(targetFolder, { ops });
  const drafter = folder === null ? null : await loadDrafter(folder, { ops, timer });
  if (folder !== null && (flags.blockSize ?? 1) > drafter!.config.blockSize)
    throw new Error(
      `--block-size ${flags.blockSize}: ${forCaller(folder)} drafts blocks of up to ${drafter!.config.blockSize}; give at most that`,
    );
  return {
    engine,
    ops,
    timer,
    targetFolder,
    target,
    tokenizer,
    stopIds: tokenizer.eosTokenId === undefined ? [] : [tokenizer.eosTokenId],
    drafterFolder: folder,
    drafter,
    maxPositions: Math.min(target.config.maxPositions, drafter?.config.maxPositions ?? Infinity),
    dispose: () => engine.dispose(),
  };
}
