import { expect, test } from "vitest";
import type { ModelRequest } from "../../core/model/model.ts";
import { createFixedTexts } from "./fixed-texts.ts";

test("the fixed texts of requests are built once for an agent, and again when its prompt, model or tools change", () => {
  const fixed = createFixedTexts();
  let written = 0;
  const ask = (change: Partial<ModelRequest>): number => {
    const request: ModelRequest = { model: "m", system: "s", messages: [], tools, toolChoice: "auto", ...change };
    return Number(fixed(request, () => ({ spoken: `${(written += 1)}`, tooling: "" })).spoken);
  };
  const tools: ModelRequest["tools"] = [];
  expect([ask({}), ask({ messages: [{ role: "user", text: "x" }] })]).toEqual([1, 1]);
  expect(ask({ system: "t" })).toBe(2);
  expect(ask({ system: "t", model: "n" })).toBe(3);
  expect(ask({ system: "t", model: "n", tools: [] })).toBe(4);
});
