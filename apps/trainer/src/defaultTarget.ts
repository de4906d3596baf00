import { join } from "node:path";

const repository = join(import.meta.dirname, "../../..");

/** The tiny target that comes with the repository. */
export const defaultTarget: string = join(repository, "data/tiny-target");

/** GSM8K's training problems as answered by the tiny target. */
export const defaultData: string = join(repository, "data/gsm8k/train.tiny-target.jsonl");

/** GSM8K's test problems, to measure a drafter on. */
export const defaultPrompts: string = join(repository, "data/gsm8k/test.tiny-target.jsonl");
