import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Template } from "@huggingface/jinja";
import { Tokenizer } from "@huggingface/tokenizers";
import { isRecord, type ChatMessage } from "./chatRecord.ts";
import { oneLine } from "./oneLine.ts";
import { pythonStripFunctions, usePythonStrip } from "./pythonStrip.ts";

/** Options of {@link ChatTokenizer.applyChatTemplate}. */
export interface ApplyChatTemplateOptions {
  /** End with the header that makes the model answer. Default false. */
  readonly addGenerationPrompt?: boolean;
  /** Tool descriptions, for templates that show them. */
  readonly tools?: readonly unknown[];
}

/** Options of {@link loadTokenizer}. */
export interface LoadTokenizerOptions {
  /** Variables for the chat template, the same that the model will be served with: `{ enable_thinking: false }`. */
  readonly templateOptions?: Readonly<Record<string, unknown>>;
}

/** A model's tokenizer with its chat template. */
export interface ChatTokenizer {
  /** Token ids of a text; special tokens in it are recognised, none are added. Throws when the model doesn't know one. */
  encode(text: string): number[];
  /** Text of token ids, special tokens included. */
  decode(ids: Iterable<number>): string;
  /** A conversation as the text that the model reads. */
  applyChatTemplate(messages: readonly ChatMessage[], options?: ApplyChatTemplateOptions): string;
  /** Ids of the special tokens by their text. */
  readonly specialTokens: ReadonlyMap<string, number>;
  /** Tokens that the model knows, by the `config.json` beside the tokenizer; undefined when there is none. */
  readonly vocabSize: number | undefined;
  /** Token that ends an answer; undefined when the tokenizer names none. */
  readonly eosTokenId: number | undefined;
  /** Token that fills rows up; undefined when the tokenizer names none. */
  readonly padTokenId: number | undefined;
  /** Token of masked slots; undefined when the tokenizer names none. */
  readonly maskTokenId: number | undefined;
}

/**
 * Loads `tokenizer.json` and `tokenizer_config.json` from a model's folder, with the chat template of
 * `chat_template.jinja` if that is there.
 *
 * @throws {Error} One line that names the file and what was expected.
 */
export async function loadTokenizer(dir: string, options: LoadTokenizerOptions = {}): Promise<ChatTokenizer> {
  const configPath = join(dir, "tokenizer_config.json");
  const config = await readJson(configPath);
  const tokenizerPath = join(dir, "tokenizer.json");
  const tokenizer = buildTokenizer(await readJson(tokenizerPath), config, tokenizerPath);
  const template = await loadTemplate(dir, config);
  const vocabSize = await readVocabSize(dir);
  const named = namedTokens(config);
  const idOf = (name: string) => (named[name] === undefined ? undefined : tokenizer.token_to_id(named[name]));
  const special = [...tokenizer.get_added_tokens_decoder().values()].filter((token) => token.special);
  return {
    encode(text) {
      const ids: number[] = tokenizer.encode(text, { add_special_tokens: false }).ids;
      const unknown = vocabSize === undefined ? undefined : ids.find((id) => id >= vocabSize);
      if (unknown === undefined) return ids;
      throw new Error(
        `${tokenizerPath}: gives a token the id ${unknown}, the vocabulary of config.json has ${vocabSize}; the tokenizer is another model's, put the target's own there`,
      );
    },
    decode(ids) {
      const list = [...ids];
      if (list.length === 0) return "";
      return tokenizer.decode(list, { skip_special_tokens: false, clean_up_tokenization_spaces: false });
    },
    applyChatTemplate(messages, { addGenerationPrompt = false, tools } = {}) {
      if (template === undefined) {
        throw new Error(
          `${dir}: no chat template, expected chat_template in tokenizer_config.json or chat_template.jinja`,
        );
      }
      const variables = {
        ...pythonStripFunctions,
        ...named,
        ...options.templateOptions,
        messages,
        add_generation_prompt: addGenerationPrompt,
      };
      try {
        return template.render(tools === undefined ? variables : { ...variables, tools });
      } catch (error) {
        throw new Error(`the chat template refuses the conversation: ${oneLine(error)}`, { cause: error });
      }
    },
    specialTokens: new Map(special.map(({ content, id }) => [content, id])),
    vocabSize,
    eosTokenId: idOf("eos_token"),
    padTokenId: idOf("pad_token"),
    maskTokenId: idOf("mask_token"),
  };
}

async function readJson(path: string): Promise<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    throw new Error(`${path}: cannot be read (${oneLine(error)}), expected a JSON object`, { cause: error });
  }
  if (!isRecord(value)) throw new Error(`${path}: holds ${oneLine(value)}, expected a JSON object`);
  return value;
}

async function readVocabSize(dir: string): Promise<number | undefined> {
  const config = await readJson(join(dir, "config.json")).catch(() => undefined);
  return typeof config?.vocab_size === "number" ? config.vocab_size : undefined;
}

function buildTokenizer(json: Record<string, unknown>, config: Record<string, unknown>, path: string): Tokenizer {
  try {
    return new Tokenizer(json, config);
  } catch (error) {
    throw new Error(`${path}: not a tokenizer that can be built: ${oneLine(error)}`, { cause: error });
  }
}

async function loadTemplate(dir: string, config: Record<string, unknown>): Promise<Template | undefined> {
  const source = await readTemplate(dir, config);
  if (source === undefined) return undefined;
  try {
    const template = new Template(source);
    usePythonStrip(template.parsed);
    return template;
  } catch (error) {
    throw new Error(`${dir}: the chat template can't be parsed: ${oneLine(error)}`, { cause: error });
  }
}

async function readTemplate(dir: string, config: Record<string, unknown>): Promise<string | undefined> {
  const file = await readFile(join(dir, "chat_template.jinja"), "utf8").catch(() => undefined);
  if (file !== undefined) return file;
  const { chat_template: template } = config;
  // Older files hold several templates by name.
  const chosen: unknown = Array.isArray(template)
    ? template.find((entry) => isRecord(entry) && entry.name === "default")
    : template;
  const source = isRecord(chosen) ? chosen.template : chosen;
  if (source === undefined || source === null) return undefined;
  if (typeof source === "string") return source;
  throw new Error(`${join(dir, "tokenizer_config.json")}: chat_template is ${oneLine(source)}, expected a string`);
}

/** The texts of `bos_token`, `eos_token` and so on, which chat templates use as variables. */
function namedTokens(config: Record<string, unknown>): Record<string, string> {
  const named: Record<string, string> = {};
  for (const [key, value] of Object.entries(config)) {
    const text = isRecord(value) ? value.content : value;
    if (key.endsWith("_token") && typeof text === "string") named[key] = text;
  }
  return named;
}
