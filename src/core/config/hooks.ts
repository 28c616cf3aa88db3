import { z } from "zod";
import { facts } from "../run/event.ts";

/** A moment with a hook: a run needs a person, or a recorded event. */
export type HookName = "needs-you" | keyof typeof facts;

/** True for a hook that is an address, which gets a POST; any other hook is a command. */
export const isAddress = (hook: string): boolean => /^https?:\/\//i.test(hook);

const hook = z
  .string()
  .trim()
  .min(1)
  .refine((text) => (isAddress(text) ? URL.canParse(text) : !/^[a-z][a-z\d+.-]*:\/\//i.test(text)), {
    message: "give a command, or an address that begins with http:// or https://",
  });

const moments = [
  ["needs-you", "A run needs you"],
  ...Object.entries(facts).map(([type, { description = "" }]) => [type, description.replace(/\.$/, "")] as const),
] as const;

/** What happens at events of a run: a command for /bin/sh, or an address. */
export const hooks = z.strictObject(
  Object.fromEntries(
    moments.map(([name, when]) => [name, hook.optional().describe(`command or address for: ${when}`)]),
  ) as Record<HookName, z.ZodOptional<typeof hook>>,
);
