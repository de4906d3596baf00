import { execFileSync, spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startEngine } from "@dflash/engine";
import { createOps, type Tensor } from "@dflash/ops";
import { type TensorData, writeSafetensors } from "@dflash/safetensors";
import { createTimer } from "@dflash/timer";
import { expect, test } from "vitest";
import { blockRanges } from "../blocks/blockRanges.ts";
import { noiseBlocks, rowPositions } from "../blocks/noiseBlocks.ts";
import { createDrafter } from "../model/createDrafter.ts";
import { randomWeights } from "../model/randomWeights.ts";
import { tinyConfig, tinyFeatures, tinyHead } from "../tinyDrafter.test-support.ts";
import { loadDrafter } from "./loadDrafter.ts";
import { saveDrafter } from "./saveDrafter.ts";

/** Whether this is the long lane, on a machine that has what PyTorch's users read a checkpoint with. */
const python = ((): boolean => {
  if (process.env["DFLASH_LONG"] !== "1") return false;
  const packages = "['torch', 'transformers', 'safetensors']";
  const find = `import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, ${packages})))`;
  return spawnSync("python3", ["-c", find]).status === 0;
})();

const script = fileURLToPath(new URL("../../../../tools/parity/check_export.py", import.meta.url));
const tokens = 18;
const blocks = {
  anchors: Int32Array.of(1, 6, 7, 13),
  keep: Uint8Array.of(1, 1, 1, 1),
  rowStarts: new Int32Array(4),
  rowEnds: new Int32Array(4).fill(tokens),
};

async function float32(tensor: Tensor): Promise<TensorData> {
  return { dtype: "F32", shape: tensor.shape, data: await tensor.read() };
}

function int32(data: Int32Array): TensorData {
  return { dtype: "I32", shape: [data.length], data };
}

test.skipIf(!python)(
  "PyTorch loads an export, gives the same logits and saves what we load (with DFLASH_LONG=1, where python3 has torch and transformers)",
  async () => {
    const engine = await startEngine("wasm", { threads: 1 });
    const ops = createOps(engine);
    const timer = createTimer();
    const dir = await mkdtemp(join(tmpdir(), "drafter-"));
    const config = { ...tinyConfig, layerTypes: ["sliding_attention", "full_attention"] as const, slidingWindow: 5 };
    const trained = await createDrafter({ ops, config, weights: randomWeights(1, 0.2), timer });
    await saveDrafter(dir, trained);

    // What is exported is rounded; so is what is compared.
    const drafter = await loadDrafter(dir, { ops, timer });
    const head = await tinyHead(ops);
    const features = ops.upload(await tinyFeatures(tokens, 5), [tokens, 48]);
    const ids = Int32Array.from({ length: tokens }, (_, token) => token);
    const noise = noiseBlocks(blocks, ids, config.blockSize, config.maskTokenId);
    const logits = ops.scope(() =>
      ops.linear(
        drafter.forward({
          noise: ops.embedding(head.embedTokens, noise.ids),
          noisePositions: noise.positions,
          features,
          contextPositions: rowPositions(Int32Array.of(0, tokens)),
          ranges: blockRanges(blocks, config, tokens),
        }),
        head.lmHead,
      ),
    );
    await writeSafetensors(join(dir, "case.safetensors"), {
      anchors: int32(blocks.anchors),
      noise: int32(noise.ids),
      features: await float32(features),
      embed_tokens: await float32(head.embedTokens),
      lm_head: await float32(head.lmHead),
      logits: await float32(logits),
    });

    const printed = execFileSync("python3", [script, dir], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    const { published, largest, difference, ...found } = JSON.parse(printed);
    console.log(`compared with ${published ? "the published model" : "our own model in PyTorch"}`);
    expect(found).toEqual({
      loading: { missing_keys: [], unexpected_keys: [], mismatched_keys: [] },
      dtypes: ["torch.bfloat16"],
      rope_theta: config.ropeTheta,
      block_size: 4,
      dflash_config: { block_size: 4, mask_token_id: 39, target_layer_ids: [1, 3, 5] },
    });
    expect(largest).toBeGreaterThan(1);
    expect(difference / largest).toBeLessThan(1e-5);

    const resaved = await loadDrafter(join(dir, "resaved"), { ops, timer });
    expect(resaved.config).toEqual(config);
    for (const [name, parameter] of drafter.parameters)
      expect([name, await resaved.parameters.get(name)!.read()]).toEqual([name, await parameter.read()]);
    await rm(dir, { recursive: true });
    engine.dispose();
  },
  // Importing PyTorch on a busy machine.
  180_000,
);
