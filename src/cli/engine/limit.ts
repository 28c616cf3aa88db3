import type { QuotaLimits } from "../../core/model/request-quota.ts";
import { CrewError } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import { jsonText } from "../../core/text/json-text.ts";
import type { Flags } from "../base/flags.ts";
import { withEngine } from "./named-engine.ts";

/** `subcrew engine limit NAME`: shows or sets the limits of one name; without a name, shows all limits. */
export async function limitEngine(name: string | undefined, flags: Flags): Promise<number> {
  const { atOnce, requests, tokens, off = false, json } = flags;
  const given: QuotaLimits = defined({ concurrency: atOnce, requests, tokens });
  const isChange = off || Object.keys(given).length > 0;
  if (name === undefined && isChange)
    throw new CrewError(
      "BAD_INPUT",
      "No provider or model is named.",
      "Name a provider, provider/model, or '*' for all models, as in `subcrew engine limit anthropic --requests 500`.",
    );
  if (off && Object.keys(given).length > 0)
    throw new CrewError(
      "BAD_INPUT",
      "--off removes limits and cannot be combined with new ones.",
      "Leave out --off, or the limits.",
    );
  return withEngine(flags, async (engine) => {
    if (name !== undefined && isChange)
      await engine.setLimits(name, off ? undefined : { ...(await engine.limits()).get(name), ...given });
    const all = [...(await engine.limits())].filter(([one]) => name === undefined || one === name);
    if (json) process.stdout.write(`${jsonText(Object.fromEntries(all), 2)}\n`);
    else if (all.length > 0) process.stdout.write(`${all.map(([one, limits]) => limitLine(one, limits)).join("\n")}\n`);
    else process.stdout.write(name === undefined ? "No limits are set.\n" : `${name} has no limits.\n`);
    return 0;
  });
}

/** The limits of one provider or model, on one line. */
export function limitLine(name: string, { concurrency, requests, tokens }: QuotaLimits): string {
  const parts = [
    concurrency === undefined ? undefined : `${concurrency} at once`,
    requests === undefined ? undefined : `${requests} requests per minute`,
    tokens === undefined ? undefined : `${tokens} tokens per minute`,
  ];
  return `${name === "*" ? "all models" : name}: ${parts.filter((part) => part !== undefined).join(", ")}`;
}
