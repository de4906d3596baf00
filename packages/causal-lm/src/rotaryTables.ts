import { createRotaryTable, type Ops, type RotaryTable } from "@dflash/ops";
import type { Rope } from "./rope.ts";
import { rotaryFrequencies } from "./rotaryFrequencies.ts";

/** Rotary tables of one model, made when they are first needed. */
export interface RotaryTables {
  /** A table of at least `positions` positions; it stays valid until a longer one is asked for. */
  covering(positions: number): RotaryTable;
  dispose(): void;
}

/** Keeps one table and doubles it when a longer row comes. */
export function createRotaryTables(ops: Ops, rope: Rope, headDim: number): RotaryTables {
  const frequencies = rotaryFrequencies(rope, headDim);
  const scale = rope.type === "yarn" ? rope.attentionFactor : 1;
  let table: RotaryTable | undefined;
  const dispose = (): void => {
    table?.cos.dispose();
    table?.sin.dispose();
    table = undefined;
  };
  return {
    covering(positions) {
      if (table && table.cos.shape[0]! >= positions) return table;
      dispose();
      const length = 2 ** Math.ceil(Math.log2(positions));
      table = createRotaryTable(ops, { frequencies, positions: length, scale });
      return table;
    },
    dispose,
  };
}
