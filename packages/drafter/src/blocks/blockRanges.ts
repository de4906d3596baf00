import { dflashRowRanges, type RowRanges } from "@dflash/block-mask";
import type { DrafterConfig, LayerType } from "../config/drafterConfig.ts";
import type { Blocks } from "./createAnchorSampler.ts";

/** The keys that each slot sees, for each type of layer. */
export type LayerRanges = Readonly<Record<LayerType, RowRanges>>;

/**
 * The attention mask of all blocks over [context | noise] keys: a kept block sees its row strictly before its anchor and
 * itself. Types of layer that look alike share one mask.
 *
 * @param contextLength T, tokens of the packed batch.
 */
export function blockRanges(blocks: Blocks, config: DrafterConfig, contextLength: number): LayerRanges {
  const { anchors, keep, rowStarts } = blocks;
  const options = { anchors, keep, blockSize: config.blockSize, contextStarts: rowStarts, contextLength };
  const full = dflashRowRanges(options);
  const { slidingWindow } = config;
  return {
    full_attention: full,
    sliding_attention: slidingWindow === null ? full : dflashRowRanges({ ...options, slidingWindow }),
  };
}
