import { RUN_ABOVE_VARIABLE } from "../../core/delegation/run-above.ts";
import { proxyVariables } from "../../core/net/proxy.ts";
import { providerKeys } from "../../models/registry/providers.ts";

/** The variables for API keys that a hint names when none is set. */
const USUAL_KEYS = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"];

/**
 * The environment variables that a host has to pass on: the API keys that are set on this machine, the user's proxy and
 * certificates, and the parent run.
 */
export function variablesToPass(env: Readonly<Record<string, string | undefined>>): string[] {
  const isSet = (name: string): boolean => (env[name] ?? "") !== "";
  const keys = providerKeys.filter(isSet);
  return [
    ...(keys.length > 0 ? keys : USUAL_KEYS),
    ...[...proxyVariables, "SUBCREW_HOME"].filter(isSet),
    RUN_ABOVE_VARIABLE,
  ];
}
