import { expect, test } from "vitest";
import { placeTarget, type PlaceTargetOptions } from "./placeTarget.ts";

const unsaid = { targetWorkers: null, threads: null, hiddenStates: null } as const;

test.each<[string, Partial<PlaceTargetOptions>, number, number | null]>([
  ["TensorFlow's cores are shared out", { cores: 2 }, 1, 1],
  ["of eight, each lane has half", { cores: 8 }, 1, 4],
  ["an odd one is left over", { cores: 5 }, 1, 2],
  ["one core is not shared", { cores: 1 }, 0, 1],
  ["files need no target", { hiddenStates: "states", cores: 4 }, 0, 4],
  ["nor its core, whatever is said of workers", { hiddenStates: "states", targetWorkers: 1, cores: 4 }, 1, 4],
  ["inline when that is said", { targetWorkers: 0, cores: 4 }, 0, 4],
  ["workers that are said share the other half", { targetWorkers: 3, cores: 4 }, 3, 2],
  ["threads that are said are each engine's", { threads: 2, cores: 2 }, 1, 2],
  ["all that is said holds", { targetWorkers: 2, threads: 7, cores: 2 }, 2, 7],
  ["wasm is inline and chooses its threads", { engine: "wasm", cores: 4 }, 0, null],
  ["unless something is said", { engine: "wasm", targetWorkers: 1, threads: 3, cores: 4 }, 1, 3],
  ["a GPU's cores are its own", { engine: "tensorflow-gpu", cores: 4 }, 0, null],
])("%s", (_, said, targetWorkers, threads) => {
  expect(placeTarget({ ...unsaid, engine: "tensorflow", cores: 2, ...said })).toEqual({ targetWorkers, threads });
});
