import { describe, expect, test } from "vitest";
import { type Catalogue, chooseModel, mayFallBack } from "../../src/core/model/choose.ts";
import type { ModelRegistryConfig } from "../../src/models/registry/model-config.ts";
import { createModelRegistry } from "../../src/models/registry/registry.ts";
import { faultOfStatus } from "../../src/models/wires/fault.ts";
import { cases } from "./harness.ts";

type Asked = { config: ModelRegistryConfig; ask: string };
type Resolved = { provider: string; modelId: string } | { throws: string };

describe("model-resolve", () => {
  test.each(cases<Asked, Resolved>("001-pegasus", "model-resolve"))("$name", ({ input, want }) => {
    const registry = createModelRegistry(input.config);
    const tier = /^resolve\('(.*)'\)$/.exec(input.ask)?.[1];
    const ask = () => (tier === undefined ? registry.getDefault() : registry.resolve(tier));
    if ("throws" in want) expect(ask).toThrow(want.throws);
    else expect(ask()).toMatchObject(want);
  });

  test("a model is created once, when it is first needed", () => {
    const registry = createModelRegistry({ providers: { openai: { apiKey: "k" } }, default: "openai/gpt-4o" });
    expect(registry.resolve("openai/gpt-4o")).toBe(registry.getDefault());
    expect(registry.resolve("fast")).toBe(registry.getDefault()); // a tier without a setting gives the default model
    expect(registry.resolve("turbo")).toBe(registry.getDefault()); // an unknown name gives the default model, too
  });

  test("a tier may be an object, with the context window of its models", async () => {
    const registry = createModelRegistry({
      providers: { house: { baseURL: "http://127.0.0.1:9/v1", apiKey: "k" } },
      tiers: { fast: { model: ["house/small", "house/other"], contextWindow: 4_096 }, powerful: "house/big" },
    });
    expect(registry.resolve("fast")).toMatchObject({ modelId: "small" });
    expect(await registry.choose([{ by: "agent", names: "fast" }])).toMatchObject({ contextWindow: 4_096 });
    expect(await registry.choose([{ by: "agent", names: "powerful" }])).not.toHaveProperty("contextWindow");
  });
});

type Failed = { error: string; model: string; parent_model: string };

describe("model-fallback", () => {
  test.each(cases<Failed, { retry_with_parent: boolean }>("002-mycode", "model-fallback"))(
    "$name",
    ({ input, want }) => {
      const catalogue: Catalogue = {
        named: () => false,
        provider: () => ({ usable: true, because: "its key is set" }),
        names: [],
        default: `any/${input.parent_model}`,
      };
      const wishes = [
        { by: "agent", names: `any/${input.model}` },
        { by: "parent", names: `any/${input.parent_model}` },
      ] as const;
      const [, parent] = chooseModel(wishes, catalogue).candidates;
      const endpoint = {
        provider: "any",
        baseURL: "",
        headers: {},
        local: false,
        thinking: "none",
        quirks: {},
      } as const;
      const status = /authentication/.test(input.error) ? 401 : 400;
      const fault = faultOfStatus({ status, headers: {}, body: input.error }, endpoint);
      expect(parent !== undefined && mayFallBack(fault, parent)).toBe(want.retry_with_parent);
    },
  );

  test("the same model is not tried twice", () => {
    const catalogue: Catalogue = {
      named: () => false,
      provider: () => ({ usable: true, because: "" }),
      names: [],
      default: "any/one",
    };
    expect(
      chooseModel(
        [
          { by: "agent", names: "any/one" },
          { by: "parent", names: "any/one" },
        ],
        catalogue,
      ).candidates,
    ).toHaveLength(1);
  });
});
