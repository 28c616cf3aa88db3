import { expect, test } from "vitest";
import { z } from "zod";
import { builtinTools } from "./table.ts";

test.each(Object.keys(builtinTools))(
  "%s is found under its own name, and its input can be described to a model",
  (name) => {
    const tool = builtinTools[name]?.();
    expect(tool).toMatchObject({ name });
    expect(z.toJSONSchema(tool?.input as z.ZodType)).toMatchObject({ type: "object", additionalProperties: false });
  },
);
