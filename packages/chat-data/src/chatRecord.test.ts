import { describe, expect, it } from "vitest";
import { parseChatRecord } from "./chatRecord.ts";

describe("parseChatRecord", () => {
  it("keeps OpenAI's messages with all their fields, and tools", () => {
    const call = { type: "function", function: { name: "add", arguments: "{}" } };
    const record = {
      id: 7,
      messages: [
        { role: "user", content: "1+1?", name: "ann" },
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", content: "2" },
        { role: "assistant", content: "2", reasoning_content: "easy" },
      ],
      tools: [{ type: "function" }],
    };
    expect(parseChatRecord(record)).toEqual({ messages: record.messages, tools: record.tools });
  });

  it("joins the text parts of a content", () => {
    const content = [
      { type: "text", text: "a" },
      { type: "text", text: "b" },
    ];
    expect(parseChatRecord({ messages: [{ role: "user", content }] })).toEqual({
      messages: [{ role: "user", content: "ab" }],
    });
  });

  it("reads ShareGPT's conversations", () => {
    const conversations = [
      { from: "system", value: "s" },
      { from: "human", value: "u" },
      { from: "gpt", value: "a", weight: 1 },
      { from: "observation", value: "t" },
      { role: "assistant", content: "b" },
    ];
    expect(parseChatRecord({ conversations })).toEqual({
      messages: [
        { role: "system", content: "s" },
        { role: "user", content: "u" },
        { role: "assistant", content: "a", weight: 1 },
        { role: "tool", content: "t" },
        { role: "assistant", content: "b" },
      ],
    });
  });

  it("reads text and token rows", () => {
    expect(parseChatRecord({ id: 1, text: "abc" })).toEqual({ text: "abc" });
    expect(parseChatRecord({ input_ids: [1, 2], loss_mask: [0, 1] })).toEqual({
      ids: new Int32Array([1, 2]),
      lossMask: new Uint8Array([0, 1]),
    });
    expect(parseChatRecord({ input_ids: [1, 2] })).toMatchObject({ lossMask: new Uint8Array([1, 1]) });
  });

  const user = { role: "user", content: "q" };
  it.each<[unknown, string]>([
    [null, "the record is null, expected an object with messages, conversations, text or input_ids"],
    [[user], "the record is [{"],
    [{ prompt: "x" }, 'the record is {"prompt":"x"}, expected an object with messages'],
    [{ messages: [] }, "messages is [], expected a list of { role, content }"],
    [{ messages: "hi" }, "messages is hi, expected a list"],
    [{ conversations: {} }, "conversations is {}, expected a list"],
    [{ messages: [user, 5] }, "messages[1] is 5, expected { role, content }"],
    [{ messages: [{ content: "x" }] }, "messages[0]: the role is missing, expected user, assistant, system or tool"],
    [{ messages: [{ role: 3, content: "x" }] }, "messages[0]: the role is 3, expected user"],
    [{ conversations: [{ from: "alien", value: "x" }] }, "conversations[0]: the role is alien, expected user"],
    [{ messages: [{ role: "user" }] }, "messages[0].content is missing, expected a string"],
    [{ messages: [{ role: "assistant", content: null }] }, "messages[0].content is null, expected a string"],
    [
      { messages: [{ role: "user", content: [{ type: "image_url" }] }] },
      'content is [{"type":"image_url"}], expected a string',
    ],
    [{ messages: [{ role: "user", content: "a\uD800b" }] }, "messages[0].content holds a lone surrogate"],
    [{ messages: [user], tools: "add" }, "tools is add, expected a list"],
    [{ text: 1 }, "text is 1, expected a string"],
    [{ text: "\uDC00" }, "text holds a lone surrogate"],
    [{ input_ids: "1" }, "input_ids is 1, expected a list of token ids"],
    [{ input_ids: [1.5] }, "input_ids is [1.5], expected a list of token ids"],
    [{ input_ids: [-1] }, "input_ids is [-1], expected a list of token ids"],
    [{ input_ids: [2 ** 31] }, "input_ids is [2147483648], expected a list of token ids"],
    [{ input_ids: [1], loss_mask: [2] }, "loss_mask is [2], expected a list of 0 and 1"],
    [{ input_ids: [1], loss_mask: [1, 0] }, "loss_mask has 2 entries, expected 1, one for each of input_ids"],
  ])("refuses %j", (record, message) => {
    expect(() => parseChatRecord(record)).toThrow(message);
  });
});
