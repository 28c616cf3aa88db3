import { expect, test } from "vitest";
import type { ModelOverview } from "../../../../src/models/registry/overview.ts";
import { place } from "../../command.ts";

const json = async (env: Record<string, string>): Promise<ModelOverview> => {
  const { stdout, code } = await place().run(["models", "--json"], { env });
  expect(code).toBe(0);
  return JSON.parse(stdout) as ModelOverview;
};

test("without a key the default is the offline model, and the missing key is named", async () => {
  const { default: usual, tiers, providers } = await json({});
  expect(usual).toMatchObject({ model: "offline" });
  expect(tiers).toContainEqual({
    name: "fast",
    because: "ANTHROPIC_API_KEY is not set, and no other usable key was found",
  });
  expect(providers.filter(({ usable }) => usable).map(({ name }) => name)).toEqual(["ollama", "lmstudio", "vllm"]);
});

test("keys are found but never shown, and addresses are shown without their password", async () => {
  const env = {
    OPENAI_API_KEY: "sk-canary-1234567890",
    ANTHROPIC_BASE_URL: "http://me:canary@proxy:8080",
    OLLAMA_HOST: "gpu",
  };
  const overview = await json(env);
  expect(overview.tiers.map(({ model }) => model?.split("/")[0])).toEqual(["openai", "openai", "openai"]);
  expect(overview.providers).toContainEqual(
    expect.objectContaining({
      name: "anthropic",
      usable: false,
      baseURL: "http://proxy:8080/v1",
      baseURLFrom: "ANTHROPIC_BASE_URL",
    }),
  );
  expect(overview.providers).toContainEqual(
    expect.objectContaining({ name: "ollama", baseURL: "http://gpu:11434/v1" }),
  );
  const { stdout } = await place().run(["models"], { env });
  expect(stdout).toMatch(/fast +openai\/\S+ +OPENAI_API_KEY is set/);
  expect(stdout + JSON.stringify(overview)).not.toContain("canary");
});
