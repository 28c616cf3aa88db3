import { suggestion } from "../../core/plan/check.ts";
import { CrewError } from "../../core/schema/error.ts";
import type { ModelOverview } from "./overview.ts";

/** Refuses a name that no provider and no tier has; a key that is missing may be set later. */
export function checkModelName(name: string, { providers, tiers, shortcuts }: ModelOverview): void {
  const words = ["offline", ...[...tiers, ...shortcuts].map((each) => each.name)];
  const known = providers.map((each) => each.name);
  if (words.includes(name) || name.startsWith("scripted:")) return;
  const [provider = "", model = ""] = name.split("/");
  if (known.includes(provider) && model !== "") return;
  throw new CrewError(
    "BAD_INPUT",
    `The model "${name}" is unknown.`,
    name.includes("/")
      ? suggestion(provider, known, "Known providers")
      : `Write provider/model, as in ollama/llama3.2, or one of: ${tiers.map((each) => each.name).join(", ")}.`,
  );
}
