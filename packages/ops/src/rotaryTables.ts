import type { Ops, RotaryTable } from "./ops.ts";

/**
 * The wavelength of each pair of dimensions over 2π, θ^(2i / D) for i < D / 2; a plain rotary embedding's frequencies are their
 * reciprocals.
 *
 * Every operation is rounded to float32 as PyTorch's are: at position 30,000 one unit in the last place of a frequency is
 * 2e-3 in its cosine, so wavelengths computed in float64 would not be the ones that published models were trained with.
 */
export function rotaryWavelengths(theta: number, headDim: number): Float32Array {
  return Float32Array.from({ length: headDim / 2 }, (_, i) => theta ** Math.fround((2 * i) / headDim));
}

/** What rotary tables are made of. */
export interface RotaryTablesOptions {
  /** Radians a position of each pair of dimensions, [headDim / 2], float32. */
  readonly frequencies: Float32Array;
  /** Factor of cosines and sines, 1 unless given. */
  readonly scale?: number;
  /** Positions that no table goes beyond; any number unless given. */
  readonly mostPositions?: number;
}

/** Rotary tables of one model. A table is made when it is first needed, so that models of very long context start small. */
export interface RotaryTables {
  /** A table of at least `positions` positions, or of `mostPositions`; it stays valid until a longer one is asked for. */
  covering(positions: number): RotaryTable;
  /** Frees the table. */
  dispose(): void;
}

/**
 * Keeps one table and doubles it when a longer row comes; what was recorded or is being computed with the shorter one is not
 * disturbed. Values depend on the position alone. Angles are rounded to float32 as PyTorch's are.
 */
export function createRotaryTables(
  ops: Pick<Ops, "upload" | "unscoped">,
  { frequencies, scale = 1, mostPositions = Number.POSITIVE_INFINITY }: RotaryTablesOptions,
): RotaryTables {
  let table: RotaryTable | null = null;
  let length = 0;
  const dispose = (): void => {
    table?.cos.dispose();
    table?.sin.dispose();
    table = null;
  };
  return {
    covering(positions) {
      const needed = Math.min(positions, mostPositions);
      if (table !== null && length >= needed) return table;
      dispose();
      length = Math.min(2 ** Math.ceil(Math.log2(needed)), mostPositions);
      table = ops.unscoped(() => createTable(ops, frequencies, length, scale));
      return table;
    },
    dispose,
  };
}

function createTable(
  { upload }: Pick<Ops, "upload">,
  frequencies: Float32Array,
  positions: number,
  scale: number,
): RotaryTable {
  const half = frequencies.length;
  const cos = new Float32Array(positions * half);
  const sin = new Float32Array(positions * half);
  for (let position = 0, at = 0; position < positions; position++) {
    for (const frequency of frequencies) {
      const angle = Math.fround(position * frequency);
      cos[at] = Math.fround(Math.cos(angle)) * scale;
      sin[at++] = Math.fround(Math.sin(angle)) * scale;
    }
  }
  const shape = [positions, half];
  return { cos: upload(cos, shape, { frozen: true }), sin: upload(sin, shape, { frozen: true }) };
}
