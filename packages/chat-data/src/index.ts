export { checkTokenIds } from "./checkTokenIds.ts";
export type { ChatMessage, ChatRecord, Conversation, TextRecord, TokenRecord } from "./chatRecord.ts";
export type { RowPosition } from "./chatRows.ts";
export {
  createChatBatches,
  type ChatBatch,
  type ChatBatches,
  type ChatBatchesOptions,
  type ChatCounters,
  type ChatPosition,
} from "./createChatBatches.ts";
export {
  createChatEncoder,
  hasSupervisedPair,
  type ChatEncoderOptions,
  type EncodedChat,
} from "./createChatEncoder.ts";
export type { GroupRowsOptions } from "./groupRows.ts";
export {
  inspectChatData,
  type ChatDataReport,
  type InspectChatDataOptions,
  type TextPiece,
} from "./inspectChatData.ts";
export {
  loadTokenizer,
  type ApplyChatTemplateOptions,
  type ChatTokenizer,
  type LoadTokenizerOptions,
} from "./loadTokenizer.ts";
export { openChatFile, type ChatFile, type OpenChatFileOptions } from "./openChatFile.ts";
export type { SkipReason } from "./skipTally.ts";
export type { TokenBatch, TokenRow } from "./tokenBatch.ts";
