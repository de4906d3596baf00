import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { callerFolder } from "../callerFolder.ts";
import { defaultData, defaultPrompts } from "../defaultTarget.ts";
import { drafterFolder, readDrafterConfig } from "../drafterFolder.ts";
import { flagOf, type Values } from "../settings/field.ts";
import type { Given } from "../settings/given.ts";
import { type ReadSettings, readSettings, type Rule } from "../settings/readSettings.ts";
import { fetchTarget, targetProblem } from "./fetchTarget.ts";
import { lengthBuckets } from "./lengthBuckets.ts";
import { stepRange } from "./stepRange.ts";
import { trainFields } from "./trainFields.ts";

/** The settings of a run as they are written; `trainFields` says what each is for. */
type TrainValues = Values<typeof trainFields>;

/** Everything that decides a training run; written to the run's folder as `config.json`. */
export type TrainConfig = Omit<TrainValues, "buckets" | "out"> & {
  /** Row lengths that rows are padded to, so that shapes come again; null pads nothing. */
  buckets: readonly number[] | null;
  /** Folder of the run. */
  out: string;
};

/** Settings of a run and how they came about. */
export type TrainSettings = ReadSettings<typeof trainFields>;

/** Ranges of steps go forward, lie in the run, and need the timer. */
const rangeRule = (name: "trace" | "cpuProfile"): Rule<typeof trainFields> => ({
  of: [name, "steps", "telemetry"],
  check: ({ [name]: text, steps, telemetry }) => {
    if (text === null) return undefined;
    const range = stepRange(text);
    if (range === null) return "expected a range of steps such as 10:20, its end not before its start";
    if (range.to > steps) return `expected an end no later than the run's last step, ${steps}`;
    return telemetry ? undefined : "needs the timing that --no-telemetry turns off";
  },
});

const rules: readonly Rule<typeof trainFields>[] = [
  rangeRule("trace"),
  rangeRule("cpuProfile"),
  {
    of: ["minReady", "queue"],
    check: ({ minReady, queue }) =>
      minReady > queue ? `expected a whole number from 1 to the queue's capacity, ${queue}` : undefined,
  },
  {
    of: ["targetDevices", "targetWorkers", "engine"],
    check: ({ targetDevices, targetWorkers, engine }) => {
      if (targetDevices === null) return undefined;
      if (engine !== "tensorflow-gpu") return "needs --engine tensorflow-gpu, whose processes hold one GPU each";
      if (targetDevices.length === targetWorkers) return undefined;
      return `expected a GPU for each of the ${targetWorkers ?? 0} target workers`;
    },
  },
  {
    of: ["target"],
    check: ({ target }) => targetProblem(target),
  },
  {
    of: ["data"],
    check: ({ data }) => (existsSync(data) ? undefined : "no such file; give a JSONL file of chat records"),
  },
  {
    of: ["evalData"],
    check: ({ evalData }) =>
      evalData === null || existsSync(evalData) ? undefined : "no such file; give a JSONL file of chat records",
  },
  {
    of: ["hiddenStates"],
    check: ({ hiddenStates }) => {
      if (hiddenStates === null || holdsHiddenStates(hiddenStates)) return undefined;
      return `${existsSync(hiddenStates) ? "holds no hs_*.safetensors" : "no such folder"}; write them with dflash capture`;
    },
  },
];

function holdsHiddenStates(folder: string): boolean {
  if (!existsSync(folder) || !statSync(folder).isDirectory()) return false;
  return readdirSync(folder).some((name) => /^hs_.*\.safetensors$/.test(name));
}

/** Settings over defaults, all judged at once. Throws an `AggregateError` with a line for each that is wrong. */
export const readTrainSettings = (given: Given): TrainSettings => readSettings(trainFields, given, rules);

/** A run folder named after the moment, `runs/2026-11-29-18-41-46`, with a counter when taken. */
function freeRunFolder(now: Date): string {
  const name = now.toISOString().slice(0, 19).replaceAll(/[T:]/g, "-");
  for (let attempt = 1; ; attempt++) {
    const folder = join(callerFolder, "runs", attempt === 1 ? name : `${name}-${attempt}`);
    if (!existsSync(folder)) return folder;
  }
}

/** Settings as a run uses them, in its folder. */
export function toTrainConfig({ buckets, ...values }: TrainValues, out: string): TrainConfig {
  return { ...values, buckets: buckets === "auto" ? lengthBuckets(values.maxLength) : buckets, out };
}

/** The config of a new run, its target downloaded where it is on the hub. Throws on a folder that is taken. */
export async function newTrainConfig({ values, given }: TrainSettings, now: Date = new Date()): Promise<TrainConfig> {
  const config = toTrainConfig(values, values.out ?? freeRunFolder(now));
  if (["log.ndjson", "config.json"].some((name) => existsSync(join(config.out, name))))
    throw new Error(`--out ${config.out}: holds a run already; choose another folder, or go on with it by --resume`);
  if (config.evalData === null && config.data === defaultData) config.evalData = defaultPrompts;
  if (config.evalData === null && given.evalEvery !== undefined)
    throw new Error("--eval-every needs --eval-data: chat records whose questions are not in --data");
  config.target = await fetchTarget(config.target);
  return config.init === null ? config : { ...config, ...(await shapeOf(config.init, given)) };
}

/** What a drafter's shape is set by. */
const width = ["intermediateSize", "heads", "kvHeads", "headDim"] as const;
const shapeNames = ["layers", ...width, "slidingWindow", "blockSize", "maskTokenId", "features"] as const;

/** A drafter that is trained further keeps its shape. */
async function shapeOf(path: string, given: TrainSettings["given"]): Promise<Partial<TrainConfig>> {
  const init = await drafterFolder(path);
  const config = await readDrafterConfig(init);
  const { layers, intermediateSize, heads, kvHeads, headDim, slidingWindow, blockSize, maskTokenId } = config;
  const sizes = { layers, intermediateSize, heads, kvHeads, headDim };
  const shape = { ...sizes, slidingWindow, blockSize, maskTokenId, features: config.targetLayerIds.length };
  for (const name of shapeNames) {
    if (given[name] === undefined || given[name] === shape[name]) continue;
    throw new Error(
      `${flagOf(name)} ${given[name]}: the drafter in ${init} has ${shape[name] ?? "none"}; leave it out, or leave out --init`,
    );
  }
  return { ...shape, init };
}
