import { lstat, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEngine } from "@dflash/engine";
import { createOps } from "@dflash/ops";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { loadCausalLM } from "./causalLM.ts";
import { downloadModel, isModelName, type DownloadModelOptions, type DownloadProgress } from "./downloadModel.ts";
import { startHub, type TestHub } from "./hub.test-support.ts";
import { openTargetFixture, type TargetFixture } from "./targetFixture.test-support.ts";

const name = "somebody/tiny-qwen3";

describe("a model of the hub", () => {
  let fixture: TargetFixture;
  let contents: Record<string, Buffer>;
  let hub: TestHub;
  let cacheDir: string;
  beforeAll(async () => {
    fixture = await openTargetFixture("target-qwen3-tied");
    contents = {
      "config.json": await readFile(join(fixture.dir, "config.json")),
      "model.safetensors": await readFile(join(fixture.dir, "model.safetensors")),
      "tokenizer.json": Buffer.from("{}"),
      "README.md": Buffer.from("not needed"),
      "pytorch_model.bin": Buffer.from("not needed either"),
    };
  });
  beforeEach(async () => {
    hub = await startHub(name, contents);
    cacheDir = await mkdtemp(join(tmpdir(), "hub-"));
  });
  afterEach(async () => {
    await hub.close();
    await rm(cacheDir, { recursive: true });
  });
  afterAll(() => fixture.remove());

  const download = (more: DownloadModelOptions = {}): Promise<string> =>
    downloadModel(name, { hubUrl: hub.url, cacheDir, ...more });

  it("is downloaded once, with its progress, into the layout of Hugging Face's tools", async () => {
    const progress: DownloadProgress[] = [];
    const folder = await download({ onProgress: (now) => progress.push(now) });
    const needed = ["config.json", "tokenizer.json", "model.safetensors"];
    expect(hub.requests).toEqual(needed);
    const total = needed.reduce((sum, file) => sum + contents[file]!.length, 0);
    expect(progress.at(-1)).toEqual({ file: "model.safetensors", doneBytes: total, totalBytes: total });
    progress.slice(1).forEach(({ doneBytes }, i) => expect(doneBytes).toBeGreaterThanOrEqual(progress[i]!.doneBytes));

    const storage = join(cacheDir, "models--somebody--tiny-qwen3");
    expect(folder).toBe(join(storage, "snapshots", "c".repeat(40)));
    expect(await readFile(join(storage, "refs/main"), "utf8")).toBe("c".repeat(40));
    expect((await readdir(folder)).toSorted()).toEqual(needed.toSorted());
    for (const file of needed) {
      expect((await lstat(join(folder, file))).isSymbolicLink()).toBe(true);
      expect(await readFile(join(folder, file))).toEqual(contents[file]);
    }
    const ops = createOps(await startEngine("cpu"));
    const model = await loadCausalLM(folder, { ops });
    expect(model.config.queryKeyNorm).toBe(true);
    ops.engine.dispose();

    expect(await download()).toBe(folder);
    expect(hub.requests).toHaveLength(3);
    await hub.close();
    expect(await download()).toBe(folder);
  });

  it("goes on where a download broke off", async () => {
    const { length } = contents["model.safetensors"]!;
    hub.mishap = { kind: "cut", after: 5000 };
    await expect(download()).rejects.toThrow(
      `${name}: model.safetensors: broke off after 5000 of ${length} bytes; the next download goes on there`,
    );
    const progress: number[] = [];
    const folder = await download({ onProgress: ({ doneBytes }) => progress.push(doneBytes) });
    expect(hub.requests.at(-1)).toBe(`model.safetensors 5000-${length - 1}`);
    expect(await readFile(join(folder, "model.safetensors"))).toEqual(contents["model.safetensors"]);
  });

  it("is not taken when it arrives damaged", async () => {
    hub.mishap = { kind: "flip" };
    await expect(download()).rejects.toThrow(/model\.safetensors: arrived damaged \(\d+ bytes, sha256 [0-9a-f]{64}\)/);
    const folder = await download();
    expect(await readFile(join(folder, "model.safetensors"))).toEqual(contents["model.safetensors"]);
  });

  it("may lie in shards", async () => {
    hub.files.delete("model.safetensors");
    hub.files.set("model.safetensors.index.json", Buffer.from('{"weight_map":{}}'));
    hub.files.set("model-00001-of-00001.safetensors", Buffer.from("shard"));
    const folder = await download();
    expect(await readFile(join(folder, "model-00001-of-00001.safetensors"), "utf8")).toBe("shard");
  });

  it("stops when its signal aborts", async () => {
    const controller = new AbortController();
    const onProgress = ({ file }: DownloadProgress): void => {
      if (file === "tokenizer.json") controller.abort(new Error("stopped by hand"));
    };
    await expect(download({ onProgress, signal: controller.signal })).rejects.toThrow("stopped by hand");
    expect(hub.requests).not.toContain("model.safetensors");
  });

  it("is refused in one line, and before its weights are downloaded, when it can't be used", async () => {
    const at = { hubUrl: hub.url, cacheDir };
    const { host } = new URL(hub.url);
    await expect(downloadModel("nobody/nothing", at)).rejects.toThrow(`nobody/nothing: no such model on ${host}`);
    await expect(downloadModel("secret/model", at)).rejects.toThrow(`secret/model: no access on ${host} (401)`);
    await expect(downloadModel("../etc", at)).rejects.toThrow("../etc: not the name of a model, expected owner/name");
    await expect(download({ accessToken: "secret" })).rejects.toThrow("the access token doesn't start with hf_");
    await expect(downloadModel(name, { ...at, hubUrl: "http://127.0.0.1:1" })).rejects.toThrow(
      `${name}: fetch failed (`,
    );
    hub.files.set("config.json", Buffer.from('{"architectures":["MambaForCausalLM"]}'));
    await expect(download()).rejects.toThrow(
      'architectures is ["MambaForCausalLM"], expected one of Qwen3ForCausalLM, Qwen2ForCausalLM, LlamaForCausalLM',
    );
    expect(hub.requests).toEqual(["config.json"]);
    hub.files.delete("model.safetensors");
    await expect(download()).rejects.toThrow(`${name}: holds no model.safetensors and no shards of it`);
    hub.files.delete("config.json");
    await expect(download()).rejects.toThrow(`${name}: holds no config.json`);
  });

  it("has a name of two parts", () => {
    expect(["Qwen/Qwen3-0.6B", "a_b/c.d"].map(isModelName)).toEqual([true, true]);
    expect(["./models", "a", "a/b/c", "/a/b", "../b", "a b/c"].map(isModelName)).toEqual(Array(6).fill(false));
  });
});
