import { type McpServer, withVariables } from "../../core/vocabulary/mcp-server.ts";

export type Variables = Readonly<Record<string, string | undefined>>;

/** Replaces `${NAME}` in a text of an MCP server's definition; an unset variable is an error. */
export function fillVariables(written: string, variables: Variables): string {
  const { text, missing } = withVariables(written, variables);
  if (missing.length > 0) throw new Error(`the variable ${missing[0]} is not set`);
  return text;
}

export const filledAll = (written: McpServer["env"], variables: Variables): Record<string, string> =>
  Object.fromEntries(Object.entries(written ?? {}).map(([name, text]) => [name, fillVariables(text, variables)]));

/** Resolves a secret in an MCP server's definition, in which `$NAME` is a variable, too. */
export const filledSecret = (written: string, variables: Variables): string =>
  fillVariables(written.replace(/^\$(\w+)$/, "$${$1}"), variables);
