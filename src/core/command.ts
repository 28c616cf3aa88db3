import { z } from "zod";
import { answer } from "./gate.ts";

/** What can be said to a run from outside of the process that owns it. */
export const command = z.discriminatedUnion("do", [
  z.strictObject({ do: z.literal("answer"), path: z.string(), answer }),
  z.strictObject({ do: z.literal("send"), path: z.string(), text: z.string(), from: z.string(), how: z.enum(["steer", "interrupt"]).optional() }),
  z.strictObject({ do: z.literal("cancel"), reason: z.string() }),
]);
export type Command = z.infer<typeof command>;

/** What became of a command. */
export type Receipt = Readonly<{ done: boolean; text: string }>;
