/**
 * The target's decoder layers whose outputs a drafter sees by default: `features` ids spread evenly from the second
 * layer to the third-to-last, as the published drafters choose them. 0-based; `hidden_states[id + 1]` in Hugging Face terms.
 *
 * @param layers Decoder layers of the target, L.
 * @param features How many to capture, K.
 * @throws {RangeError} When the target is too shallow for the formula.
 */
export function targetLayerIds(layers: number, features: number): number[] {
  if (!Number.isInteger(features) || features < 1) {
    throw new RangeError(`features must be an integer of at least 1, got ${features}`);
  }
  if (!Number.isInteger(layers) || layers < (features === 1 ? 1 : 4)) {
    throw new RangeError(`layers must be an integer of at least 4, got ${layers}; give the layer ids explicitly`);
  }
  if (features === 1) return [Math.floor(layers / 2)];
  const start = 1;
  const end = layers - 3;
  return Array.from({ length: features }, (_, i) => roundHalfToEven(start + (i * (end - start)) / (features - 1)));
}

/** Python's `round`: the published ids come from it, and Math.round differs at .5. */
function roundHalfToEven(x: number): number {
  const rounded = Math.round(x);
  return rounded - x === 0.5 && rounded % 2 !== 0 ? rounded - 1 : rounded;
}
