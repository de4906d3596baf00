import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { byColumn, createTileListBuilder, type TileList } from "./tileList.ts";

/** Which tiles are listed, [slices, rows, columns]. */
const anyGrid = fc
  .record({
    slices: fc.integer({ min: 1, max: 3 }),
    rows: fc.integer({ min: 0, max: 6 }),
    columns: fc.integer({ min: 0, max: 6 }),
  })
  .chain(({ slices, rows, columns }) => {
    const line = fc.array(fc.boolean(), { minLength: columns, maxLength: columns });
    const slice = fc.array(line, { minLength: rows, maxLength: rows });
    return fc.record({
      slices: fc.constant(slices),
      rows: fc.constant(rows),
      columns: fc.constant(columns),
      grid: fc.array(slice, { minLength: slices, maxLength: slices }),
    });
  });

/** FlexAttention's pair of arrays, of lines that say of each place whether it is listed. */
function byDefinition(lines: readonly boolean[][], width: number): { counts: number[]; padded: number[] } {
  const tiles = lines.map((line) => Array.from(line.keys()).filter((place) => line[place]));
  return {
    counts: tiles.map(({ length }) => length),
    padded: tiles.flatMap((line) => [...line, ...Array<number>(width - line.length).fill(0)]),
  };
}

function arrays(list: TileList): { counts: number[]; padded: number[] } {
  return { counts: [...list.counts], padded: [...list.padded()] };
}

describe("a tile list", () => {
  it("gives FlexAttention's arrays by row and by column", () => {
    fc.assert(
      fc.property(anyGrid, ({ grid, ...shape }) => {
        const { slices, rows, columns } = shape;
        const builder = createTileListBuilder(slices * rows, columns);
        for (const line of grid.flat()) {
          for (const [column, listed] of line.entries()) if (listed) builder.add(column);
          builder.endLine();
        }
        const list = builder.build();
        const transposed = grid.flatMap((slice) =>
          Array.from({ length: columns }, (_, column) => slice.map((line) => line[column]!)),
        );
        expect(arrays(list)).toEqual(byDefinition(grid.flat(), columns));
        expect(arrays(byColumn(list, shape))).toEqual(byDefinition(transposed, rows));
        expect(list.padded()).toBe(list.padded());
      }),
    );
  });

  it("grows past the room that it begins with, and keeps no more than it lists", () => {
    const builder = createTileListBuilder(2, 5000);
    for (let line = 0; line < 2; line++) {
      for (let tile = 0; tile < 5000; tile += 3) builder.add(tile);
      builder.endLine();
    }
    const { starts, tiles } = builder.build();
    const line = Array.from({ length: 1667 }, (_, i) => 3 * i);
    expect([...starts]).toEqual([0, 1667, 3334]);
    expect([...tiles]).toEqual([...line, ...line]);
    expect(tiles.buffer.byteLength).toBe(4 * 3334);
  });
});
