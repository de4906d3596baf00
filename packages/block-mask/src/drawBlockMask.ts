import type { BlockMask } from "./blockMask.ts";

const characters = ["·", "░", "█"];

/** The mask as text: a line on the whole, then one character a tile. */
export function blockMaskText(mask: BlockMask): string {
  const { batch: batches, heads, qLen, kvLen, tile, rows, columns } = mask;
  const lines = [
    `BlockMask ${batches} × ${heads} × ${qLen} × ${kvLen}, tile ${tile[0]} × ${tile[1]}, sparsity ${mask.sparsity().toFixed(2)} %`,
  ];
  for (let batch = 0; batch < batches; batch++) {
    for (let head = 0; head < heads; head++) {
      if (batches * heads > 1) lines.push(`batch ${batch}, head ${head}`);
      const text = Array.from(mask.tileKinds(batch, head), (kind) => characters[kind]);
      for (let row = 0; row < rows; row++) lines.push(text.slice(row * columns, (row + 1) * columns).join(""));
    }
  }
  return lines.join("\n");
}

/** Which mask of a batch is drawn. */
export interface BlockMaskSvgOptions {
  /** Which batch element; 0 unless given. */
  readonly batch?: number;
  /** Which head; 0 unless given. */
  readonly head?: number;
}

/**
 * An SVG picture of the mask: keys to the right, queries down, partial tiles light and full tiles dark, equal neighbours drawn as one bar.
 * One unit of its viewBox is one tile; it is 640 pixels wide unless the page sizes it.
 */
export function blockMaskSvg(mask: BlockMask, { batch = 0, head = 0 }: BlockMaskSvgOptions = {}): string {
  const { rows, columns, qLen, kvLen, tile } = mask;
  const kinds = mask.tileKinds(batch, head);
  const bars = ["", "", ""];
  for (let row = 0; row < rows; row++) {
    for (let start = 0, end = 0; start < columns; start = end) {
      const kind = kinds[row * columns + start]!;
      while (end < columns && kinds[row * columns + end] === kind) end++;
      bars[kind] += `M${start} ${row}h${end - start}v1h${start - end}z`;
    }
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="640" height="${Math.round((640 * rows) / columns)}" viewBox="0 0 ${columns} ${rows}" shape-rendering="crispEdges">`,
    `<title>${qLen} queries × ${kvLen} keys, tile ${tile[0]} × ${tile[1]}</title>`,
    `<path fill="#f4f4f2" d="${bars[0]}"/>`,
    `<path fill="#8fb8de" d="${bars[1]}"/>`,
    `<path fill="#1f4e79" d="${bars[2]}"/>`,
    `</svg>`,
  ].join("\n");
}
