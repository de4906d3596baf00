import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** What the `block-mask-*` cases say of themselves in NAME.json. */
interface Settings {
  readonly q_len: number;
  readonly kv_len: number;
  readonly flex_block_size: number;
  readonly sparsity_percent: number;
  readonly context_len: number;
  readonly block_size: number;
  readonly window?: number;
  readonly document_starts?: readonly number[];
}

export interface Case {
  readonly settings: Settings;
  /** The values of an integer tensor. */
  readonly values: (tensor: string) => Int32Array;
  /** The same, cut along the first axis. */
  readonly batches: (tensor: string) => Int32Array[];
}

const folder = process.env["DFLASH_FIXTURES"] ?? fileURLToPath(new URL("../../../fixtures", import.meta.url));

/** Reads the parity case NAME.json with NAME.safetensors. */
export function readCase(name: string): Case {
  const file = new Uint8Array(readFileSync(`${folder}/${name}.safetensors`));
  const data = 8 + Number(new DataView(file.buffer).getBigUint64(0, true));
  const header: Record<string, { dtype: string; shape: number[]; data_offsets: [number, number] }> = JSON.parse(
    new TextDecoder().decode(file.subarray(8, data)),
  );
  const settings: Settings = JSON.parse(readFileSync(`${folder}/${name}.json`, "utf8"));
  const values = (tensor: string): Int32Array => {
    const { dtype, data_offsets } = header[tensor]!;
    const bytes = file.slice(data + data_offsets[0], data + data_offsets[1]);
    return dtype === "U8" ? Int32Array.from(bytes) : new Int32Array(bytes.buffer);
  };
  const batches = (tensor: string): Int32Array[] => {
    const batch = header[tensor]!.shape[0]!;
    const all = values(tensor);
    return Array.from({ length: batch }, (_, b) =>
      all.subarray((b * all.length) / batch, ((b + 1) * all.length) / batch),
    );
  };
  return { settings, values, batches };
}
