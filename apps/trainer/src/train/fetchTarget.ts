import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { downloadModel, type DownloadProgress, isModelName } from "@dflash/causal-lm/hub";
import { createLogUpdate } from "log-update";
import { fromCaller } from "../callerFolder.ts";
import { progressBar } from "./progressBar.ts";

const mebibytes = (bytes: number): number => Math.round(bytes / 2 ** 20);

/** Why a target is none; undefined for a model's folder, and for a name on the hub. */
export function targetProblem(target: string): string | undefined {
  const folder = fromCaller(target);
  // Whatever else is wrong with a path, it leads nowhere.
  const found = existsSync(folder) ? statSync(folder) : undefined;
  if (found === undefined && isModelName(target)) return undefined;
  if (found?.isDirectory() && existsSync(join(folder, "config.json"))) return undefined;
  const problem =
    found === undefined ? "no such folder" : found.isDirectory() ? "holds no config.json" : "a file and no folder";
  return `${problem}; give a folder with config.json, model.safetensors and tokenizer.json`;
}

/**
 * The folder of a target: a path as the caller meant it, or `owner/name` on the Hugging Face hub, which is downloaded with a progress
 * bar on stderr unless it is in the cache.
 */
export async function fetchTarget(target: string): Promise<string> {
  const folder = fromCaller(target);
  const problem = targetProblem(target);
  if (problem !== undefined) throw new Error(`--target ${target}: ${problem}`);
  if (existsSync(folder)) return folder;
  const { HF_ENDPOINT: hubUrl, HF_TOKEN: accessToken } = process.env;
  const update = process.stderr.isTTY ? createLogUpdate(process.stderr) : undefined;
  const start = performance.now();
  let first: number | undefined;

  const onProgress = ({ file, doneBytes, totalBytes }: DownloadProgress): void => {
    first ??= doneBytes;
    const pace = (performance.now() - start) / Math.max(1, doneBytes - first);
    const [done, total] = [mebibytes(doneBytes), mebibytes(totalBytes)];
    const remainingMs = doneBytes > first ? pace * (totalBytes - doneBytes) : null;
    const bar = progressBar({ done, total, remainingMs }, process.stderr.columns);
    update?.(`${bar}\nMiB of ${target}: ${file}`);
  };

  try {
    return await downloadModel(target, {
      onProgress,
      ...(hubUrl ? { hubUrl } : {}),
      ...(accessToken ? { accessToken } : {}),
    });
  } finally {
    update?.clear();
  }
}
