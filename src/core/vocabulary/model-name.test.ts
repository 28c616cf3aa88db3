import { expect, test } from "vitest";
import { idOfDisplayName, modelNames, parseModelName, splitModelName } from "./model-name.ts";

test.each([
  ["a", ["a"]],
  [" pi/smol, haiku-4.5 ,, gemini-flash", ["pi/smol", "haiku-4.5", "gemini-flash"]],
  [
    ["a, b", "c"],
    ["a", "b", "c"],
  ],
  ["", []],
])("the list or text %j is split into single model names", (wish, names) => {
  expect(modelNames(wish)).toEqual(names);
});

test.each([
  ["openai/gpt-4o:low", { name: "openai/gpt-4o", thinking: "low" }],
  ["openai/gpt-4o:off", { name: "openai/gpt-4o", thinking: "off" }],
  ["fast:8000", { name: "fast", thinking: 8_000 }],
  ["ollama/qwen3:8b", { name: "ollama/qwen3:8b" }],
  ["ollama/gpt-oss:20b:high", { name: "ollama/gpt-oss:20b", thinking: "high" }],
  ["openrouter/x/y:free", { name: "openrouter/x/y:free" }],
  [":high", { name: ":high" }],
  ["sonnet", { name: "sonnet" }],
])("the model name %s is split into name and thinking level", (text, parts) => {
  expect(parseModelName(text)).toEqual(parts);
});

test.each([
  ["openai/a/b", { provider: "openai", id: "a/b" }],
  ["openai:gpt-4o", { provider: "openai", id: "gpt-4o" }],
  ["ollama/qwen3:8b", { provider: "ollama", id: "qwen3:8b" }],
  ["gpt-4o", undefined],
  ["openai/", undefined],
])("the name %s is split into provider and model id", (name, parts) => {
  expect(splitModelName(name)).toEqual(parts);
});

test.each([
  ["Claude Sonnet 4.5 (copilot)", "claude-sonnet-4-5"],
  ["GPT-5.2 (copilot)", "gpt-5.2"],
  ["Gemini 2.5 Pro", "gemini-2.5-pro"],
])("%s is the model %s", (name, id) => {
  expect(idOfDisplayName(name)).toBe(id);
});
