export type { ChatMessage, ChatRecord, Conversation } from "./chatRecord.ts";
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
export {
  loadTokenizer,
  type ApplyChatTemplateOptions,
  type ChatTokenizer,
  type LoadTokenizerOptions,
} from "./loadTokenizer.ts";
export { openChatFile, type ChatFile } from "./openChatFile.ts";
export type { TokenBatch, TokenRow } from "./tokenBatch.ts";
