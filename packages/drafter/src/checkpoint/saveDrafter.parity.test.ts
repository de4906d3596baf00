import { execFileSync, spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEngine } from "@dflash/engine";
import { createOps } from "@dflash/ops";
import { expect, test } from "vitest";
import { tinyConfig, tinyDrafter } from "../tinyDrafter.test-support.ts";
import { saveDrafter } from "./saveDrafter.ts";

/** Whether this machine has what PyTorch's users read a checkpoint with. */
const python = ((): boolean => {
  const packages = "['torch', 'transformers', 'safetensors']";
  const find = `import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, ${packages})))`;
  return spawnSync("python3", ["-c", find]).status === 0;
})();

/** A drafter is a Qwen3 model without an embedding, and with two tensors more that mix the features in. */
const read = `
import json, sys
from safetensors.torch import load_file
from transformers.models.qwen3.modeling_qwen3 import Qwen3Config, Qwen3Model
config = Qwen3Config.from_pretrained(sys.argv[1])
tensors = load_file(sys.argv[1] + "/model.safetensors")
print(json.dumps({
  "qwen3": {name: list(p.shape) for name, p in Qwen3Model(config).named_parameters() if not name.startswith("embed_tokens")},
  "saved": {name: list(tensor.shape) for name, tensor in tensors.items()},
  "dtypes": sorted({str(tensor.dtype) for tensor in tensors.values()}),
  "rope_theta": config.rope_parameters["rope_theta"],
  "block_size": config.block_size,
  "dflash_config": config.dflash_config,
}))
`;

test.skipIf(!python)(
  "Transformers reads the config and the weights (skipped where python3 has no transformers)",
  async () => {
    const engine = await startEngine("cpu");
    const drafter = await tinyDrafter(createOps(engine));
    const dir = await mkdtemp(join(tmpdir(), "drafter-"));
    await saveDrafter(dir, drafter);
    const printed = execFileSync("python3", ["-c", read, dir], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    const { qwen3, saved, ...values } = JSON.parse(printed);
    expect(saved).toEqual({ ...qwen3, "fc.weight": [16, 48], "hidden_norm.weight": [16] });
    expect(values).toEqual({
      dtypes: ["torch.bfloat16"],
      rope_theta: tinyConfig.ropeTheta,
      block_size: 4,
      dflash_config: { block_size: 4, mask_token_id: 39, target_layer_ids: [1, 3, 5] },
    });
    await rm(dir, { recursive: true });
    drafter.dispose();
    engine.dispose();
  },
  // Importing PyTorch on a busy machine.
  180_000,
);
