import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEngine } from "@dflash/engine";
import { createOps } from "@dflash/ops";
import { openSafetensors } from "@dflash/safetensors";
import { expect, it } from "vitest";
import { loadCausalLM } from "./causalLM.ts";
import { mismatches } from "./mismatches.test-support.ts";
import { fixtures, tinyTarget, tokenBatch } from "./targetFixture.test-support.ts";

const reference = `
import json, sys, torch
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM
target, rows, out = sys.argv[1:]
model = AutoModelForCausalLM.from_pretrained(target, dtype=torch.float32, attn_implementation="eager")
with torch.no_grad():
    outputs = [model(torch.tensor([ids]), output_hidden_states=True) for ids in json.loads(rows)]
states = [torch.cat([h[0] for h in hs]) for hs in zip(*(o.hidden_states for o in outputs))]
tensors = {f"hidden_states/{i}": h for i, h in enumerate(states)}
save_file({**tensors, "logits": torch.cat([o.logits[0] for o in outputs])}, out)
`;

const python = (...args: string[]): ReturnType<typeof spawnSync> => spawnSync("python3", args, { encoding: "utf8" });
const missing =
  python("-c", "import importlib.util as u; exit(not all(map(u.find_spec, ('safetensors', 'torch', 'transformers'))))")
    .status === 0
    ? ""
    : " (skipped: python3 has no transformers)";

it.skipIf(missing)(
  `the tiny target computes on real prompts what transformers does${missing}`,
  async () => {
    const { prompts }: { prompts: { prompt_ids: number[] }[] } = JSON.parse(
      await readFile(join(fixtures, "spec-decode.json"), "utf8"),
    );
    const rows = prompts.slice(0, 2).map(({ prompt_ids }) => prompt_ids);
    const dir = await mkdtemp(join(tmpdir(), "transformers-"));
    const run = python("-c", reference, tinyTarget, JSON.stringify(rows), join(dir, "out.safetensors"));
    expect(run).toMatchObject({ status: 0 });
    const expected = await openSafetensors(join(dir, "out.safetensors"));

    const ops = createOps(await startEngine("wasm"));
    const model = await loadCausalLM(tinyTarget, { ops });
    const batch = tokenBatch(
      Int32Array.from(rows.flat()),
      rows.map((row) => row.length),
    );
    const { features, last } = model.forward(batch, { layerIds: [0, 1, 2, 3, 4, 5, 6], captureLast: true });
    const states = Object.fromEntries(features.map((feature, layer) => [`hidden_states/${layer + 1}`, feature]));
    const computed = { ...states, logits: model.logits(last!) };
    expect(await mismatches(computed, (name) => expected.readFloat32(name))).toEqual([]);
    ops.engine.dispose();
    await expected.close();
    await rm(dir, { recursive: true });
  },
  180_000,
);
