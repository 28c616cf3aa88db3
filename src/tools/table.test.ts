import { expect, test } from "vitest";
import { z } from "zod";
import { builtinTools } from "./table.ts";

test.each([...builtinTools()])(
  "%s is found under its own name, and its input can be described to a model",
  (name, tool) => {
    expect(tool).toMatchObject({ name });
    expect(z.toJSONSchema(tool.input as z.ZodType)).toMatchObject({ type: "object", additionalProperties: false });
  },
);
