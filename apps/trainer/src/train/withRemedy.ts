import { listCheckpoints } from "@dflash/drafter";
import { forCaller } from "../callerFolder.ts";
import { checkpointsOf } from "../drafterFolder.ts";

/** What the system's shortest codes mean. */
const meanings: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EFBIG: "the file is larger than the disk or its limits allow",
  EROFS: "the disk can't be written to",
  ENOMEM: "the machine is out of memory",
  EMFILE: "too many files are open",
};

/** Errors that are looked through for a code, each the cause of the one before. */
const deepest = 8;

/** The error that ended a run, and how to go on from what is saved. */
export async function withRemedy(cause: unknown, out: string): Promise<Error> {
  const text = cause instanceof Error ? cause.message.split("\n", 1)[0]! : String(cause);
  const meaning = meaningOf(cause);
  const smaller = /out of memory/.test(text) ? "; pnpm dflash doctor says which --rows and --anchors fit" : "";
  const saved = (await listCheckpoints(checkpointsOf(out), { onDamaged: () => {} }).catch(() => [])).at(-1);
  const remedy = saved
    ? `; step ${saved.state.step} is saved, go on from there with: pnpm dflash train --resume ${forCaller(out)}`
    : "";
  return new Error(`${meaning === undefined ? "" : `${meaning}: `}${text}${smaller}${remedy}`, { cause });
}

function meaningOf(error: unknown, depth = 0): string | undefined {
  if (!(error instanceof Error) || depth === deepest) return undefined;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return meanings[code] ?? meaningOf(error.cause, depth + 1);
}
