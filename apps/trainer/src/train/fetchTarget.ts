import { existsSync } from "node:fs";
import { downloadModel, type DownloadProgress, isModelName } from "@dflash/causal-lm/hub";
import { createLogUpdate } from "log-update";
import { fromCaller } from "../callerFolder.ts";
import { progressBar } from "./progressBar.ts";

const mebibytes = (bytes: number): number => Math.round(bytes / 2 ** 20);

/**
 * The folder of a target: a path as the caller meant it, or `owner/name` on the Hugging Face hub, which is downloaded with a progress
 * bar on stderr unless it is in the cache.
 */
export async function fetchTarget(target: string): Promise<string> {
  const folder = fromCaller(target);
  if (existsSync(folder) || !isModelName(target)) return folder;
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
