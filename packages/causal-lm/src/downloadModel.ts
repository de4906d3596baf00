import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type * as Hub from "@huggingface/hub";
import { openCheckpoint } from "@dflash/safetensors";
import { cacheFile, type HubFile } from "./cacheFile.ts";
import { readCausalLMConfig } from "./causalLMConfig.ts";

/** How far a download is. */
export interface DownloadProgress {
  /** File at hand. */
  readonly file: string;
  /** Bytes on disk, those of earlier attempts included. */
  readonly doneBytes: number;
  /** Bytes of all files of the model. */
  readonly totalBytes: number;
}

/** Where a model comes from and goes to. */
export interface DownloadModelOptions {
  /** Branch, tag or commit; `main` unless given. */
  readonly revision?: string;
  /** The cache of Hugging Face's own tools unless given; what they downloaded is found there. */
  readonly cacheDir?: string;
  /** Hugging Face's unless given. */
  readonly hubUrl?: string;
  /** For gated and private models. */
  readonly accessToken?: string;
  /** Called as bytes arrive. */
  readonly onProgress?: (progress: DownloadProgress) => void;
  /** Stops the download; the next one goes on there. */
  readonly signal?: AbortSignal;
}

/** Whether a name has the form `owner/name` of a model on the hub. */
export const isModelName = (name: string): boolean => /^[\w-][\w.-]*\/[\w-][\w.-]*$/.test(name);

/**
 * Downloads what a causal language model needs (config, tokenizer, safetensors), unless it is in the cache, and gives the
 * folder. A download that broke off goes on where it did. When the hub can't be reached, a model that is complete in the
 * cache will do.
 *
 * @throws {Error} One line with the model and what is wrong: there is none, no access, an architecture that isn't supported
 * (known before the weights are downloaded), a file that arrived damaged.
 */
export async function downloadModel(name: string, options: DownloadModelOptions = {}): Promise<string> {
  if (!isModelName(name)) throw new Error(`${name}: not the name of a model, expected owner/name`);
  // Here, since it takes a quarter of a second to load and most models are folders.
  const hub = await import("@huggingface/hub");
  const { revision = "main", cacheDir = hub.getHFHubCachePath(), onProgress, signal } = options;
  const storage = join(cacheDir, hub.getRepoFolderName({ type: "model", name }));
  const ref = join(storage, "refs", revision);
  const access = hubAccess(options);
  try {
    const { sha: commit } = await hub.modelInfo({ ...access, name, revision, additionalFields: ["sha"] });
    const at = { ...access, repo: name, revision: commit };
    const files: HubFile[] = [];
    for await (const { type, path, size, oid = commit, lfs } of hub.listFiles(at)) {
      if (type === "file") files.push({ path, size, etag: hash(lfs?.oid ?? oid), sha256: lfs?.oid });
    }
    const folder = join(storage, "snapshots", hash(commit));
    const needed = neededFiles(files);
    const totalBytes = needed.reduce((sum, { size }) => sum + size, 0);
    let before = 0;
    for (const file of needed) {
      const fetchFrom = async (start: number): Promise<ReadableStream<Uint8Array>> => {
        const blob = await hub.downloadFile({ ...at, path: file.path });
        if (!blob) throw new Error(`${file.path}: gone from the hub meanwhile`);
        return blob.slice(start).stream();
      };
      const onBytes = (bytes: number): void => onProgress?.({ file: file.path, doneBytes: before + bytes, totalBytes });
      await cacheFile({ fetchFrom, storage, folder, file, onBytes });
      before += file.size;
      // An architecture that isn't supported is known before its weights are downloaded.
      if (file.path === "config.json") await readCausalLMConfig(folder);
    }
    await mkdir(dirname(ref), { recursive: true });
    await writeFile(ref, commit);
    return folder;
  } catch (error) {
    signal?.throwIfAborted();
    const isOffline = error instanceof TypeError && error.message === "fetch failed";
    const cached = isOffline ? await cachedModel(storage, ref).catch(() => undefined) : undefined;
    if (cached !== undefined) return cached;
    const offline = isOffline ? "; without a network give the folder of a model" : "";
    throw new Error(`${name}: ${reason(error, hub)}${offline}`, { cause: error });
  }
}

const isToken = (text: string): text is `hf_${string}` => text.startsWith("hf_");

/** A hash that becomes part of a path. */
function hash(text: string): string {
  if (/^[0-9a-f]{40,64}$/.test(text)) return text;
  throw new Error(`the hub names a file or commit ${JSON.stringify(text)}, expected a hash`);
}

/** What each request needs. */
function hubAccess({ hubUrl, accessToken, signal }: DownloadModelOptions): {
  hubUrl?: string;
  accessToken?: `hf_${string}`;
  fetch?: typeof fetch;
} {
  if (accessToken !== undefined && !isToken(accessToken)) throw new Error("the access token doesn't start with hf_");
  return {
    ...(hubUrl === undefined ? {} : { hubUrl }),
    ...(accessToken === undefined ? {} : { accessToken }),
    ...(signal === undefined ? {} : { fetch: (url, init) => fetch(url, { ...init, signal }) }),
  };
}

/** Config first; then the small files, then the weights. */
function neededFiles(files: readonly HubFile[]): HubFile[] {
  const single = files.filter(({ path }) => path === "model.safetensors");
  const weights = single.length > 0 ? single : files.filter(({ path }) => /^model-.*\.safetensors$/.test(path));
  const small = files.filter(({ path }) => /^[\w.-]+\.(json|jinja)$/.test(path));
  const config = small.find(({ path }) => path === "config.json");
  if (!config) throw new Error("holds no config.json, expected a causal language model");
  if (weights.length === 0) throw new Error("holds no model.safetensors and no shards of it, expected safetensors");
  return [config, ...small.filter((file) => file !== config), ...weights];
}

/** The snapshot that the cache holds whole. */
async function cachedModel(storage: string, ref: string): Promise<string> {
  const folder = join(storage, "snapshots", (await readFile(ref, "utf8")).trim());
  await readCausalLMConfig(folder);
  const checkpoint = await openCheckpoint(folder);
  await checkpoint.close();
  return folder;
}

function reason(error: unknown, { HubApiError }: typeof Hub): string {
  if (error instanceof HubApiError) {
    const { statusCode, url } = error;
    const { host } = new URL(url);
    if (statusCode === 404) return `no such model on ${host}`;
    if (statusCode === 401 || statusCode === 403)
      return `no access on ${host} (${statusCode}): there is no such model, or it needs the access token of somebody who may read it`;
    return `${host} answers ${statusCode}`;
  }
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error ? `${error.message} (${cause.message})` : error.message;
}
