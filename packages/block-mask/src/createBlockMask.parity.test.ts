import { describe, expect, it } from "vitest";
import type { TileLists } from "./blockMask.ts";
import { and, perBatch } from "./combine.ts";
import { createBlockMask } from "./createBlockMask.ts";
import { type Case, readCase } from "./fixture.test-support.ts";
import { causal, dflash, documents, slidingWindow } from "./knownPredicates.ts";
import type { MaskPredicate } from "./maskPredicate.ts";
import { validLists } from "./oracle.test-support.ts";

const predicates: Record<string, (fixture: Case) => MaskPredicate> = {
  a: dflashOf,
  b: dflashOf,
  c: dflashOf,
  edges: dflashOf,
  inblock: (fixture) => dflashOf(fixture, { causalInBlock: true }),
  "dflash-sliding": (fixture) => dflashOf(fixture, { slidingWindow: fixture.settings.window! }),
  causal: () => causal,
  docs: ({ settings }) => and(causal, documents(Int32Array.from(settings.document_starts!))),
  sliding: ({ settings }) => and(causal, slidingWindow(settings.window!)),
};

function dflashOf(
  { settings, batches }: Case,
  variant: { causalInBlock?: true; slidingWindow?: number } = {},
): MaskPredicate {
  const keep = batches("keep");
  return perBatch(
    ...batches("anchors").map((anchors, b) =>
      dflash({
        anchors,
        keep: Uint8Array.from(keep[b]!),
        blockSize: settings.block_size,
        contextLength: settings.context_len,
        ...variant,
      }),
    ),
  );
}

describe("block masks equal those of PyTorch's create_block_mask", () => {
  describe.each(Object.keys(predicates))("block-mask-%s", (name) => {
    const fixture = readCase(`block-mask-${name}`);
    const { q_len: qLen, kv_len: kvLen, flex_block_size: tile, sparsity_percent } = fixture.settings;
    const dense = fixture.values("dense");
    const elements = fixture.batches("dense").length;
    const known = predicates[name]!(fixture);
    const unknown: MaskPredicate = (query, key, batch, head) => known(query, key, batch, head);

    it.each<[string, MaskPredicate]>([
      ["by arithmetic", known],
      ["by visiting every element", unknown],
    ])("%s", (_, predicate) => {
      const mask = createBlockMask(predicate, { qLen, kvLen, tile, batch: elements });
      expect(validLists(mask, mask.rows, mask.columns)).toEqual(validLists(listsOf(fixture), mask.rows, mask.columns));
      expect(Buffer.compare(mask.toDense(), Uint8Array.from(dense))).toBe(0);
      expect(mask.sparsity()).toBeCloseTo(sparsity_percent, 9);
    });
  });
});

function listsOf({ values }: Case): TileLists {
  return {
    kvNumBlocks: values("kv_num_blocks"),
    kvIndices: values("kv_indices"),
    fullKvNumBlocks: values("full_kv_num_blocks"),
    fullKvIndices: values("full_kv_indices"),
    qNumBlocks: values("q_num_blocks"),
    qIndices: values("q_indices"),
    fullQNumBlocks: values("full_q_num_blocks"),
    fullQIndices: values("full_q_indices"),
  };
}
