// Draws the attention mask of a DFlash drafter: node drawMask.ts mask.svg
import { writeFileSync } from "node:fs";
import { blockMaskSvg, dflashBlockMask } from "@dflash/block-mask";

const path = process.argv[2] ?? "mask.svg";

// Eight blocks of 16 queries over 512 context keys: each sees the context before its anchor, and itself.
const anchors = Int32Array.from({ length: 8 }, (_, block) => 40 + 60 * block);
const mask = dflashBlockMask({ anchors, blockSize: 16, contextLength: 512, tile: 16 });

writeFileSync(path, blockMaskSvg(mask));
console.log(String(mask));
console.log(`drawn in ${path}`);
