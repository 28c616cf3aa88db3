import { describe, expect, test } from "vitest";
import { type Catalogue, chooseModel, type ModelWish } from "./choose.ts";

const usable = new Set(["anthropic", "ollama", "openrouter"]);
const catalogue: Catalogue = {
  named: (name) => ["mine", "offline"].includes(name) || name.startsWith("scripted:"),
  provider: (name) => {
    if (usable.has(name)) return { usable: true, because: "its key is set" };
    if (["openai", "google"].includes(name)) return { usable: false, because: "no key", hint: "export it" };
    return undefined;
  },
  names: ["mine", "anthropic", "openai", "google"],
  default: "offline",
};
const chosen = (names: string | readonly string[], more: readonly ModelWish[] = [], where = catalogue): string[] =>
  chooseModel([{ by: "agent", names }, ...more], where)
    .candidates.filter(({ spare }) => !spare)
    .map(({ name }) => name);

describe("a model name resolves to one model", () => {
  test.each([
    ["anthropic/claude-x", "anthropic/claude-x"],
    ["anthropic:claude-x", "anthropic/claude-x"],
    ["openrouter/a/b:free", "openrouter/a/b:free"],
    ["fast", "anthropic/claude-haiku-4-5"],
    ["Powerful", "anthropic/claude-opus-5-5"],
    ["haiku", "anthropic/claude-haiku-4-5"],
    ["flash", "openrouter/google/gemini-3.8-flash"],
    ["claude-opus-4-8", "anthropic/claude-opus-4-8"],
    ["Claude Sonnet 4.5 (copilot)", "anthropic/claude-sonnet-4-5"],
    ["haiku-4.5", "anthropic/claude-haiku-4-5"],
    ["pi/smol", "anthropic/claude-haiku-4-5"],
    ["@slow", "anthropic/claude-opus-5-5"],
    ["inherit", "offline"],
    ["auto", "offline"],
    ["mine", "mine"],
    ["scripted:./a/b.json", "scripted:./a/b.json"],
  ])("the name %s is the model %s", (name, model) => {
    expect(chosen(name)).toEqual([model]);
  });
});

test("the first available model of a list is chosen, and the others are fallbacks", () => {
  expect(chosen("openai/gpt-5, anthropic/claude-x, nonsense, ollama/y")).toEqual(["anthropic/claude-x", "ollama/y"]);
  expect(chosen(["google/g", "mine"])).toEqual(["mine"]);
});

test("the name of a tier gives exactly one model, without fallbacks", () => {
  expect(chosen("fast")).toHaveLength(1);
});

test("the model of the call takes precedence over the agent's, then the parent's, then the default", () => {
  const call: ModelWish = { by: "call", names: "ollama/call" };
  const agent: ModelWish = { by: "agent", names: "ollama/agent" };
  const parent: ModelWish = { by: "parent", names: "ollama/parent" };
  const first = (...wishes: ModelWish[]) => chooseModel(wishes, catalogue).candidates[0];
  expect(first(call, agent, parent)?.name).toBe("ollama/call");
  expect(first(agent, parent)?.name).toBe("ollama/agent");
  expect(first(parent)?.name).toBe("ollama/parent");
  expect(first()?.name).toBe("offline");
  expect(first({ by: "call", names: "inherit" }, parent)?.name).toBe("ollama/parent");
  expect(first({ by: "call", names: "openai/x, inherit" }, parent)?.name).toBe("ollama/parent");
});

test("an unavailable model is skipped with a warning that gives the reason", () => {
  const parent: ModelWish = { by: "parent", names: "ollama/parent" };
  const { candidates, warnings } = chooseModel([{ by: "agent", names: "openai/gpt-5" }, parent], catalogue);
  expect(candidates[0]?.name).toBe("ollama/parent");
  expect(warnings).toEqual(["the agent asks for openai/gpt-5: no key."]);
});

test("the choice fails if the user requires a model that is unavailable", () => {
  const { candidates, misses } = chooseModel([{ by: "call", names: "openai/gpt-5" }], catalogue, "call");
  expect(candidates).toEqual([]);
  expect(misses).toEqual([{ name: "openai/gpt-5", code: "MISSING_KEY", because: "no key", hint: "export it" }]);
});

test.each([
  ["opnai/gpt-5", "UNKNOWN_MODEL", 'the provider "opnai" is unknown', 'Did you mean "openai"?'],
  ["sonett", "UNKNOWN_MODEL", 'the model "sonett" is unknown', 'Did you mean "sonnet"?'],
])("the mistyped model name %s is refused with a suggestion", (names, code, because, hint) => {
  expect(chooseModel([{ by: "call", names }], catalogue, "call").misses).toEqual([
    { name: names, code, because, hint },
  ]);
});

test("a thinking suffix of a model name is kept through aliases, and the outermost suffix wins", () => {
  const first = (names: string, where = catalogue) => chooseModel([{ by: "agent", names }], where).candidates[0];
  expect(first("fast:low")).toMatchObject({ name: "anthropic/claude-haiku-4-5", thinking: "low" });
  expect(first("fast:low", { ...catalogue, tiers: { fast: "ollama/q:high" } })).toMatchObject({
    name: "ollama/q",
    thinking: "low",
  });
  expect(first("fast", { ...catalogue, tiers: { fast: "ollama/q:high" } })).toMatchObject({ thinking: "high" });
  expect(first("mine:300")).toMatchObject({ name: "mine", thinking: 300 });
});

test("the reason for the choice of a model is reported", () => {
  const why = (names: string) => chooseModel([{ by: "agent", names }], catalogue).candidates[0]?.why;
  expect(why("fast")).toBe("the agent asks for fast, which is anthropic/claude-haiku-4-5 (its key is set)");
  expect(why("ollama/x")).toBe("the agent asks for ollama/x (its key is set)");
  expect(chooseModel([], catalogue).candidates[0]?.why).toBe("the default is offline");
});

test("model aliases that refer to each other do not loop for ever", () => {
  const looping = { ...catalogue, tiers: { fast: "balanced", balanced: "fast" }, default: "fast" };
  expect(chooseModel([{ by: "agent", names: "fast" }], looping).candidates).toEqual([]);
});

test("the default model is the fallback for a model that does not exist", () => {
  const { candidates } = chooseModel([{ by: "agent", names: "anthropic/claude-x" }], catalogue);
  expect(candidates).toMatchObject([{ name: "anthropic/claude-x" }, { name: "offline", spare: true }]);
});

test("an agent file alone cannot choose an unconfirmed local server; a person can", () => {
  const where: Catalogue = {
    ...catalogue,
    provider: (name) =>
      name === "ollama" ? { usable: true, because: "no key is needed", isUnconfirmed: true } : catalogue.provider(name),
  };
  expect(chosen("ollama/x", [], where)).toEqual(["offline"]);
  expect(chooseModel([{ by: "agent", names: "ollama/x" }], where).warnings.join()).toContain("was not confirmed");
  expect(chooseModel([{ by: "call", names: "ollama/x" }], where, "call").candidates[0]?.name).toBe("ollama/x");
});
