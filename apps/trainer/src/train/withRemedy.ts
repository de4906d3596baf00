import { listCheckpoints } from "@dflash/drafter";
import { forCaller } from "../callerFolder.ts";
import { checkpointsOf } from "../drafterFolder.ts";

/** What the system's shortest codes mean. */
const meanings: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  ENOMEM: "the machine is out of memory",
  EMFILE: "too many files are open",
};

/** The error that ended a run, and how to go on from what is saved. */
export async function withRemedy(cause: unknown, out: string): Promise<Error> {
  const text = cause instanceof Error ? cause.message.split("\n", 1)[0]! : String(cause);
  const code = cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "";
  const meaning = meanings[code];
  const saved = (await listCheckpoints(checkpointsOf(out)).catch(() => [])).at(-1);
  const remedy = saved
    ? `; step ${saved.state.step} is saved, go on from there with: pnpm dflash train --resume ${forCaller(out)}`
    : "";
  return new Error(`${meaning === undefined ? "" : `${meaning}: `}${text}${remedy}`, { cause });
}
