import { secretsIn } from "./secrets-in-settings.ts";

/** The fields of an agent that can contain secrets. */
export type AgentSecrets = Readonly<{
  mcpServers?: unknown;
  remote?: Readonly<{ cardUrl?: string; auth?: Readonly<Record<string, unknown>> }>;
}>;

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * The secrets in agents: keys, headers and addresses of their MCP servers, and the sign-in of remote agents, whether it
 * is written in the file or in a variable that the file names.
 */
export function secretsInAgents(agents: readonly AgentSecrets[], variables: Variables = {}): string[] {
  return agents.flatMap(({ mcpServers, remote }) => [
    ...secretsIn([mcpServers, remote?.cardUrl], variables),
    ...Object.entries(remote?.auth ?? {}).flatMap(([name, value]) =>
      typeof value === "string" && SECRET_FIELD.test(name) ? signInSecret(value, variables) : [],
    ),
  ]);
}

const SECRET_FIELD = /^(?:key|token|password|value|client_?secret)$/i;

/** The value of a field of a sign-in: `$NAME` is a variable, `!command` is not run here, anything else is literal. */
function signInSecret(written: string, variables: Variables): string[] {
  const [, braced, plain] = /^\$(?:\{(\w+)\}|(\w+))$/.exec(written) ?? [];
  const name = braced ?? plain;
  if (name !== undefined) return [variables[name] ?? ""];
  if (/^!(?!!)/.test(written)) return [];
  return [written.replace(/^(?:\$\$|!!)/, (twice) => twice.slice(1))];
}
