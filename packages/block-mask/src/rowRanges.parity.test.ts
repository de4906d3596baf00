import { describe, expect, it } from "vitest";
import { causalRowRanges } from "./causalRowRanges.ts";
import { denseFromRowRanges } from "./rowRanges.ts";
import { dflashRowRanges } from "./dflashRowRanges.ts";
import { readCase } from "./fixture.test-support.ts";

describe("row ranges give the dense masks of PyTorch", () => {
  it.each(["a", "b", "c", "edges", "inblock", "dflash-sliding"])("block-mask-%s", (name) => {
    const { settings, batches } = readCase(`block-mask-${name}`);
    const keep = batches("keep");
    const dense = batches("dense");
    batches("anchors").forEach((anchors, b) => {
      const ranges = dflashRowRanges({
        anchors,
        keep: Uint8Array.from(keep[b]!),
        blockSize: settings.block_size,
        contextLength: settings.context_len,
        ...(settings.window !== undefined && { slidingWindow: settings.window }),
        ...(name === "inblock" && { causalInBlock: true }),
      });
      expect([ranges.queryLength, ranges.keyLength]).toEqual([settings.q_len, settings.kv_len]);
      expect(Buffer.compare(denseFromRowRanges(ranges), Uint8Array.from(dense[b]!))).toBe(0);
    });
  });

  it.each(["causal", "docs", "sliding"])("block-mask-%s", (name) => {
    const { settings, batches } = readCase(`block-mask-${name}`);
    const ranges = causalRowRanges({
      rowStarts: Int32Array.from(settings.document_starts ?? [0, settings.q_len]),
      ...(settings.window !== undefined && { slidingWindow: settings.window }),
    });
    expect(Buffer.compare(denseFromRowRanges(ranges), Uint8Array.from(batches("dense")[0]!))).toBe(0);
  });
});
