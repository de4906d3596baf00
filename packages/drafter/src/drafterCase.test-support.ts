import { readFileSync } from "node:fs";
import type { Ops } from "@dflash/ops";
import { openSafetensors } from "@dflash/safetensors";
import type { PackedHiddenStates, TargetHead } from "@dflash/target-forward";
import { createTimer } from "@dflash/timer";
import type { Blocks } from "./blocks/createAnchorSampler.ts";
import { parseDrafterConfig } from "./config/parseDrafterConfig.ts";
import { fixtures } from "./fixture.test-support.ts";
import type { Loss } from "./loss/loss.ts";
import { createDrafter, type DFlashDrafter } from "./model/createDrafter.ts";

/** A `drafter-*` case on an engine, with its two padded rows taken as they are. */
export interface DrafterCase {
  readonly drafter: DFlashDrafter;
  readonly head: TargetHead;
  readonly batch: PackedHiddenStates;
  readonly blocks: Blocks;
  readonly loss: Loss;
  /** The values of any tensor of the case. */
  readonly expected: (name: string) => Float32Array;
  /** The dense mask, rows × (N·B) × (row length + N·B). */
  readonly mask: Int32Array;
  dispose(): void;
}

interface About {
  readonly config: unknown;
  readonly loss_type: "dflash" | "dpace";
  readonly gamma: number | null;
}

export async function readDrafterCase(name: string, ops: Ops): Promise<DrafterCase> {
  const file = await openSafetensors(`${fixtures}/${name}.safetensors`);
  const about: About = JSON.parse(readFileSync(`${fixtures}/${name}.json`, "utf8"));
  const config = parseDrafterConfig(about.config, name);
  const floats = new Map<string, Float32Array>();
  for (const [tensor, { dtype }] of file.tensors)
    if (dtype === "F32") floats.set(tensor, await file.readFloat32(tensor));
  const integers = async (tensor: string): Promise<Int32Array> => file.readInt32(tensor);

  const drafter = await createDrafter({
    ops,
    config,
    timer: createTimer(),
    weights: (parameter) => floats.get(`weights/${parameter}`)!,
  });
  const { hiddenSize, vocabSize } = config;
  const upload = (tensor: string, ...shape: number[]) => ops.upload(floats.get(tensor)!, shape, { frozen: true });
  const head: TargetHead = {
    vocabSize,
    hiddenSize,
    embedTokens: upload("embed_tokens.weight", vocabSize, hiddenSize),
    lmHead: upload("lm_head.weight", vocabSize, hiddenSize),
    finalNorm: ops.upload(new Float32Array(hiddenSize).fill(1), [hiddenSize]),
    normEpsilon: 1e-6,
    dispose() {
      for (const tensor of [head.embedTokens, head.lmHead, head.finalNorm]) tensor.dispose();
    },
  };

  const [rows = 0, length = 0] = file.tensors.get("input_ids")!.shape;
  const features = upload("target_hidden", rows * length, config.targetLayerIds.length * hiddenSize);
  const batch: PackedHiddenStates = {
    index: 0,
    ids: await integers("input_ids"),
    lossMask: Uint8Array.from(await integers("loss_mask")),
    rowStarts: Int32Array.from({ length: rows + 1 }, (_, row) => row * length),
    features,
    last: null,
    dispose: () => features.dispose(),
  };

  const anchors = await integers("anchors");
  const rowOf = (block: number): number => Math.floor((block * rows) / anchors.length);
  const blocks: Blocks = {
    anchors: anchors.map((anchor, block) => rowOf(block) * length + anchor),
    keep: Uint8Array.from(await integers("keep")),
    rowStarts: anchors.map((_, block) => rowOf(block) * length),
    rowEnds: anchors.map((_, block) => (rowOf(block) + 1) * length),
  };
  const mask = await integers("mask");
  await file.close();
  return {
    drafter,
    head,
    batch,
    blocks,
    loss: about.loss_type === "dpace" ? { type: "d-pace", alpha: 0.5 } : { type: "decay", gamma: about.gamma },
    expected: (tensor) => floats.get(tensor)!,
    mask,
    dispose() {
      for (const part of [drafter, head, batch]) part.dispose();
    },
  };
}
