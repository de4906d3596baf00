import type { Loss } from "@dflash/drafter";
import type { TrainConfig } from "./trainConfig.ts";

/** The loss of a run. */
export function createLoss({ loss: type, gamma, alpha }: TrainConfig): Loss {
  if (type === "d-pace") return { type, alpha };
  return gamma === null ? { type } : { type, gamma: gamma === 0 ? null : gamma };
}
