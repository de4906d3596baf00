import type { Ops, RotaryTables } from "@dflash/ops";
import type { TargetHead } from "@dflash/target-forward";
import type { Section } from "@dflash/timer";
import type { AttentionWeights } from "./attentionBlock.ts";
import type { CausalLMConfig } from "./causalLMConfig.ts";
import type { MLPWeights } from "./mlpBlock.ts";

/** What a model computes with. */
export interface Decoder {
  readonly ops: Ops;
  readonly config: CausalLMConfig;
  readonly head: TargetHead;
  readonly layers: readonly { readonly attention: AttentionWeights; readonly mlp: MLPWeights }[];
  readonly rotary: RotaryTables;
  readonly sections: Readonly<Record<"attention" | "mlp" | "capture", Pick<Section, "time">>>;
}
