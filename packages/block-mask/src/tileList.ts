/**
 * The tiles of one kind, line by line: under each row of tiles its columns, or under each column its rows, ascending. What it
 * takes goes with the tiles that it lists; FlexAttention's layout gives every line room for a tile everywhere.
 */
export interface TileList {
  /** Line l lists tiles[starts[l]] up to tiles[starts[l + 1]], exclusive; [lines + 1]. */
  readonly starts: Int32Array;
  readonly tiles: Int32Array;
  /** Tiles of each line, [lines]. */
  readonly counts: Int32Array;
  /** FlexAttention's layout, [lines, width], zeros behind the tiles of a line; made when first asked for, and kept. */
  padded(): Int32Array;
}

/** Takes tiles line by line. */
export interface TileListBuilder {
  /** Lists a tile in the current line; the tiles of a line come in ascending order. */
  add(tile: number): void;
  endLine(): void;
  build(): TileList;
}

/** A builder of `lines` lines, each of at most `width` tiles. */
export function createTileListBuilder(lines: number, width: number): TileListBuilder {
  const starts = new Int32Array(lines + 1);
  let tiles = new Int32Array(1024);
  let line = 0;
  let end = 0;
  return {
    add(tile) {
      if (end === tiles.length) {
        const larger = new Int32Array(2 * end);
        larger.set(tiles);
        tiles = larger;
      }
      tiles[end++] = tile;
    },
    endLine() {
      starts[++line] = end;
    },
    build: () => tileList(starts, tiles.slice(0, end), width),
  };
}

/** The same tiles under their columns, given under their rows: `slices` times `rows` lines become `slices` times `columns`. */
export function byColumn(
  byRow: TileList,
  { slices, rows, columns }: { readonly slices: number; readonly rows: number; readonly columns: number },
): TileList {
  const starts = new Int32Array(slices * columns + 1);
  const tiles = new Int32Array(byRow.tiles.length);
  const next = starts.subarray(1); // where the next tile of each column goes, and in the end where the column ends
  for (let slice = 0; slice < slices; slice++) {
    const first = byRow.starts[slice * rows]!;
    const end = byRow.starts[(slice + 1) * rows]!;
    const counted = next.subarray(slice * columns, (slice + 1) * columns);
    for (let i = first; i < end; i++) counted[byRow.tiles[i]!]!++;
    for (let column = 0, at = first; column < columns; column++) {
      const count = counted[column]!;
      counted[column] = at;
      at += count;
    }
    for (let row = 0; row < rows; row++) {
      const rowEnd = byRow.starts[slice * rows + row + 1]!;
      for (let i = byRow.starts[slice * rows + row]!; i < rowEnd; i++) tiles[counted[byRow.tiles[i]!]!++] = row;
    }
  }
  return tileList(starts, tiles, rows);
}

function tileList(starts: Int32Array, tiles: Int32Array, width: number): TileList {
  const lines = starts.length - 1;
  let kept: Int32Array | undefined;
  return {
    starts,
    tiles,
    counts: Int32Array.from({ length: lines }, (_, line) => starts[line + 1]! - starts[line]!),
    padded: () => (kept ??= pad(starts, tiles, width)),
  };
}

function pad(starts: Int32Array, tiles: Int32Array, width: number): Int32Array {
  const lines = starts.length - 1;
  const padded = new Int32Array(lines * width);
  for (let line = 0; line < lines; line++) padded.set(tiles.subarray(starts[line], starts[line + 1]), line * width);
  return padded;
}
