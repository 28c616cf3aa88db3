import { faultsOf } from "../../core/schema/parse.ts";
import { isRecord } from "../../core/text/json.ts";
import { type AgentServers, mcpServers, serverProblem } from "../../core/vocabulary/mcp-server.ts";
import { addProblem, type KeyReader, put } from "./draft.ts";

/**
 * Reads the MCP servers of an agent: a list of names and of `name: definition`, or an object with `true` for servers
 * that are only named.
 */
export const servers: KeyReader = (draft, value, key) => {
  const entries = Array.isArray(value) ? value.flatMap(entriesOf) : entriesOf(value);
  const read: Record<string, AgentServers[string]> = {};
  for (const [name, written] of entries) {
    const definition = written === true || written === null ? true : written;
    const problem = problemOf(name, definition);
    if (problem === undefined) read[name] = definition as AgentServers[string];
    else addProblem(draft, "bad-value", `The server "${name}" is ignored: ${problem}`, { field: key });
  }
  put(draft, "mcpServers", read, key);
};

const entriesOf = (value: unknown): [string, unknown][] =>
  typeof value === "string" ? [[value, true]] : isRecord(value) ? Object.entries(value) : [];

function problemOf(name: string, definition: unknown): string | undefined {
  const [fault] = faultsOf(mcpServers, { [name]: definition === true ? {} : definition }, "server");
  if (fault) return fault.message;
  const problem = definition === true ? undefined : serverProblem(definition as object);
  return problem && `${problem}.`;
}
