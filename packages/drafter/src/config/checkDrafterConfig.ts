import type { DrafterConfig, LayerType } from "./drafterConfig.ts";
import { refuseField } from "./fieldChecks.ts";

type Field = keyof DrafterConfig;

/**
 * Checks values from anywhere and returns them as a config; undefined `layerTypes` are full attention everywhere. The
 * upper bounds lie far above any published model, so that a damaged file can't ask for all memory.
 *
 * @param place What the error names first, such as the file.
 * @param spelling A field's name at that place.
 * @throws {Error} One line that names the place, the field, its value and what was expected.
 */
export function checkDrafterConfig(
  place: string,
  values: { readonly [Key in Field]: unknown },
  spelling: (field: Field) => string = (field) => field,
): DrafterConfig {
  const refuse = (field: Field, expected: string): never =>
    refuseField(place, spelling(field), values[field], expected);
  const integer = (field: Field, least: number, most: number): number => {
    const value = values[field];
    return isInteger(value, least, most) ? value : refuse(field, `an integer from ${least} to ${most}`);
  };
  const positive = (field: Field): number => {
    const value = values[field];
    return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : refuse(field, "a number above 0");
  };
  const list = <T>(field: Field, fits: (element: unknown) => element is T, expected: string): readonly T[] => {
    const value = values[field];
    return Array.isArray(value) && value.length > 0 && value.every(fits) ? value : refuse(field, expected);
  };

  const layers = integer("layers", 1, 1024);
  const kvHeads = integer("kvHeads", 1, 1024);
  const vocabSize = integer("vocabSize", 1, 2 ** 22);
  const targetLayers = integer("targetLayers", 1, 1024);
  const isTargetLayer = (id: unknown): id is number => isInteger(id, 0, targetLayers - 1);
  const layerTypes =
    values.layerTypes === undefined
      ? Array<LayerType>(layers).fill("full_attention")
      : list("layerTypes", isLayerType, "full_attention or sliding_attention for each layer");
  const config: DrafterConfig = {
    hiddenSize: integer("hiddenSize", 1, 2 ** 17),
    intermediateSize: integer("intermediateSize", 1, 2 ** 20),
    layers,
    heads: integer("heads", 1, 1024),
    kvHeads,
    headDim: integer("headDim", 1, 1024),
    vocabSize,
    maxPositions: integer("maxPositions", 1, 2 ** 30),
    epsilon: positive("epsilon"),
    ropeTheta: positive("ropeTheta"),
    initializerRange: positive("initializerRange"),
    layerTypes,
    slidingWindow: layerTypes.includes("sliding_attention") ? integer("slidingWindow", 1, 2 ** 30) : null,
    blockSize: integer("blockSize", 2, 1024),
    targetLayers,
    targetLayerIds: list("targetLayerIds", isTargetLayer, `a list of layers from 0 to ${targetLayers - 1}`),
    maskTokenId: integer("maskTokenId", 0, vocabSize - 1),
  };
  if (config.headDim % 2 !== 0) refuse("headDim", "an even number");
  if (config.heads % kvHeads !== 0) refuse("heads", `a multiple of the ${kvHeads} key-value heads`);
  if (layerTypes.length !== layers) refuse("layerTypes", `a type for each of the ${layers} layers`);
  return config;
}

function isInteger(value: unknown, least: number, most: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= least && value <= most;
}

function isLayerType(value: unknown): value is LayerType {
  return value === "full_attention" || value === "sliding_attention";
}
