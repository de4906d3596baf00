import { dirname, join } from "node:path";
import { firstNonFinite, openSafetensors, type Safetensors } from "@dflash/safetensors";

/** The file of a record: the layout of vLLM and speculators, `token_ids` [S] and `hidden_states` [S, K + 1, H], the last layer last. */
export const hiddenStateFile = (dir: string, record: number): string => join(dir, `hs_${record}.safetensors`);

/** Where a record's hidden states lie: alone in a file, or with others in a shard. */
export interface HiddenStatePlace {
  readonly path: string;
  /** In a shard, whose tensors are named after it; null where the file is its own. */
  readonly record: number | null;
}

/** Names of a record's tensors in its file. */
export const tensorNames = (record: number | null): readonly [ids: string, states: string] =>
  record === null ? ["token_ids", "hidden_states"] : [`${record}/token_ids`, `${record}/hidden_states`];

/** A place as messages name it. */
export const shownPlace = ({ path, record }: HiddenStatePlace): string =>
  record === null ? path : `${path}: record ${record}`;

/** What a record's hidden states are checked against. */
export interface HiddenStateLayout {
  /** Captured decoder layers, K of them. */
  readonly layerIds: readonly number[];
  /** H */
  readonly hiddenSize: number;
}

/** Hidden states of one record. */
export interface HiddenStateRecord {
  /** [S] */
  readonly ids: Int32Array;
  /** [S, K + 1, H] */
  readonly states: Float32Array;
}

/**
 * Reads a record's hidden states and checks all of them.
 *
 * @throws {Error} One line with the file, the place, the value and what was expected.
 */
export async function readHiddenStates(place: HiddenStatePlace, layout: HiddenStateLayout): Promise<HiddenStateRecord> {
  const file = await openSafetensors(place.path).catch((error: unknown) => {
    throw isMissing(error) ? new Error(`${place.path}: no such file; ${remedy(place.path)}`, { cause: error }) : error;
  });
  const [idsName, statesName] = tensorNames(place.record);
  try {
    const tokens = checkHeader(place, file, layout);
    const ids = await file.readInt32(idsName);
    const states = await file.readFloat32(statesName);
    const broken = firstNonFinite(states);
    if (broken >= 0) {
      const token = Math.floor(broken / (states.length / tokens));
      throw new Error(
        `${shownPlace(place)}: hidden_states of token ${token} holds ${states[broken]}, expected finite numbers`,
      );
    }
    return { ids, states };
  } finally {
    await file.close();
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && error.cause instanceof Error && "code" in error.cause && error.cause.code === "ENOENT";

/** How what is missing comes to be there. */
const remedy = (path: string): string =>
  `dflash capture --out ${dirname(path)} adds it, given the same target, data and longest length`;

/**
 * Whether a place holds these tokens, whole, from the beginning on; nothing is known of the states themselves.
 *
 * @throws {Error} One line, when it holds other layers or tokens.
 */
export async function holdsTokens(
  place: HiddenStatePlace,
  layerIds: readonly number[],
  ids: Int32Array,
): Promise<boolean> {
  // Not there, or cut when its writer was killed.
  const file = await openSafetensors(place.path).catch(() => null);
  if (file === null) return false;
  const [idsName, statesName] = tensorNames(place.record);
  try {
    if (![idsName, statesName].every((name) => file.tensors.has(name))) return false;
    checkLayers(place, file, layerIds);
    const difference = tokenDifference(await file.readInt32(idsName), ids);
    if (difference === null) return true;
    throw new Error(`${shownPlace(place)}: ${difference}; capture into another folder`);
  } finally {
    await file.close();
  }
}

/** How a record's tokens differ from the expected ones, from the beginning on; null when they don't. */
export function tokenDifference(found: Int32Array, expected: Int32Array): string | null {
  const wrong = expected.findIndex((id, token) => id !== found[token]);
  if (wrong < 0) return null;
  return wrong < found.length
    ? `token ${wrong} is ${found[wrong]}, expected ${expected[wrong]} as in the data`
    : `holds ${found.length} tokens, expected ${expected.length} as in the data`;
}

function checkLayers(place: HiddenStatePlace, { metadata }: Safetensors, layerIds: readonly number[]): void {
  const { layer_ids: known = layerIds.join() } = metadata;
  if (known === layerIds.join()) return;
  throw new Error(
    `${shownPlace(place)}: holds layers ${known}, expected ${layerIds.join()}; capture those into another folder`,
  );
}

/** Checks shapes and dtypes before anything is read; gives S. */
function checkHeader(place: HiddenStatePlace, file: Safetensors, { layerIds, hiddenSize }: HiddenStateLayout): number {
  const path = shownPlace(place);
  const names = tensorNames(place.record);
  const [ids, states] = names.map((name) => {
    const found = file.tensors.get(name);
    if (!found) throw new Error(`${path}: no tensor ${name}, expected ${names.join(" and ")}`);
    return found;
  });
  const shown = `[${states!.shape.join(", ")}]`;
  const slots = layerIds.length + 1;
  if (!["BF16", "F16", "F32"].includes(states!.dtype))
    throw new Error(`${path}: hidden_states has dtype ${states!.dtype}, expected BF16, F16 or F32`);
  const [tokens = 0, found, width] = states!.shape;
  if (states!.shape.length !== 3 || found !== slots || width !== hiddenSize || tokens === 0) {
    throw new Error(
      `${path}: hidden_states has shape ${shown}, expected [tokens, ${slots}, ${hiddenSize}]: ${layerIds.length} layers and the last`,
    );
  }
  if (ids!.shape.join() !== String(tokens))
    throw new Error(`${path}: token_ids has shape [${ids!.shape.join(", ")}], expected [${tokens}] as hidden_states`);
  checkLayers(place, file, layerIds);
  return tokens;
}
