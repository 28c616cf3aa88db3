import { RUN_ABOVE_VARIABLE } from "../../core/delegation/run-above.ts";
import { suggestion } from "../../core/plan/check.ts";
import { CrewError } from "../../core/schema/error.ts";
import { proxyVariables } from "../../core/net/proxy.ts";
import { type SetupName, setupNames, setupText } from "../../mcp/setup.ts";
import { providerKeys } from "../../models/registry/providers.ts";

/** Prints what to write where, so that another tool knows our server. */
export function printSetup(name: string): number {
  if (!setupNames.includes(name as SetupName))
    throw new CrewError(
      "BAD_INPUT",
      `No setup instructions for "${name}".`,
      suggestion(name, setupNames, "Setup instructions exist for"),
    );
  process.stdout.write(setupText(name as SetupName, variablesToPass(process.env)));
  return 0;
}

/** Shown where no key is set yet. */
const USUAL_KEYS = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"];

/** The variables that a tool has to pass on: the keys that are set here, the user's proxy and certificates, and the task above. */
function variablesToPass(env: Readonly<Record<string, string | undefined>>): string[] {
  const isSet = (name: string): boolean => (env[name] ?? "") !== "";
  const keys = providerKeys.filter(isSet);
  return [
    ...(keys.length > 0 ? keys : USUAL_KEYS),
    ...[...proxyVariables, "SUBCREW_HOME"].filter(isSet),
    RUN_ABOVE_VARIABLE,
  ];
}
