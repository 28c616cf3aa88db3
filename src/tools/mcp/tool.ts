import { showHidden } from "../../core/agent/hidden-characters.ts";
import { isCrewError, messageOf } from "../../core/schema/error.ts";
import { PEER_TOOL_MS, peerSubjects } from "../../core/task/mcp-tools.ts";
import type { Tool, ToolContext, ToolResult } from "../../core/task/tool.ts";
import { isRecord } from "../../core/text/json.ts";
import type { OfferedTool } from "./client.ts";
import type { Lazy } from "./lazy-server.ts";
import { type PinnedTool, pinnedToolName, toolHash } from "./pins.ts";
import { readResult } from "./result-text.ts";
import { toolChanges, visibleSchema } from "../../core/task/peer-tool-text.ts";

const CALL_MS = 120_000;
const MOST_DESCRIPTION = 4_000;
/**
 * The maximum number of characters of changes in a question. More changes are refused, because nobody reads them in a
 * question.
 */
const MOST_ASKED = 20_000;

export type ToolRules = Readonly<{ isTrusted(tool: string): boolean; say(text: string, code?: string): void }>;

/**
 * Wraps a tool of an MCP server as a tool for agents. It is treated as a tool that changes things and runs programs,
 * whatever the server says about it, until a rule of the user trusts it; only in the order of a turn, what the server
 * says counts. Its description is the pinned description, not the server's current description.
 */
export function serverTool(server: Lazy, offered: PinnedTool, rules: ToolRules): Tool {
  const name = pinnedToolName(server.name, offered.name);
  const claimsToRead = offered.annotations?.readOnlyHint === true;
  return {
    name,
    description: showHidden(offered.description ?? `A tool of the MCP server ${server.name}.`).slice(
      0,
      MOST_DESCRIPTION,
    ),
    input: visibleSchema(offered.inputSchema),
    effect: claimsToRead && rules.isTrusted(name) ? "read" : "write",
    order: () => (claimsToRead ? "read" : "write"),
    subjects: peerSubjects,
    timeoutMs: PEER_TOOL_MS,
    run: async (input, context) => {
      const args = isRecord(input) ? input : {};
      let complaint = (): string => "";
      try {
        const session = await server.session(context.run, context.signal);
        ({ complaint } = session);
        const timeoutMs = server.definition.timeoutMs ?? CALL_MS;
        const now = await session.tools(context.signal, timeoutMs);
        const refused = await unchanged(server, offered, now, context, rules);
        if (refused) return refused;
        const result = await session.call(offered.name, args, {
          signal: context.signal,
          timeoutMs,
          report: context.report,
        });
        return { ...readResult(result), error: result.isError === true };
      } catch (error) {
        if (isCrewError(error)) rules.say(`${error.message} ${error.hint}`, error.code);
        const words = [messageOf(error), complaint()].filter((part) => part !== "").join("; the server said: ");
        return { text: `${name} failed: ${words}`, error: true };
      }
    },
  };
}

/**
 * Checks that a tool of a server is still the trusted tool. A changed tool needs approval despite allow rules; a run
 * without a person denies it.
 */
async function unchanged(
  server: Lazy,
  before: PinnedTool,
  now: readonly OfferedTool[],
  context: ToolContext,
  { say }: Pick<ToolRules, "say">,
): Promise<ToolResult | undefined> {
  const seen = await server.pinned(context.run, context.signal);
  const strangers = now.filter(({ name }) => !seen.some((tool) => tool.name === name)).map(({ name }) => name);
  if (strangers.length > 0)
    say(
      `The MCP server "${server.name}" offers tools that it did not offer before: ${showHidden(strangers.join(", "))}. ` +
        `\`subcrew mcp trust ${server.name}\` trusts them.`,
    );
  const tool = now.find(({ name }) => name === before.name);
  if (!tool) return { text: `The MCP server "${server.name}" no longer offers ${before.name}.`, error: true };
  const agreed = seen.find(({ name }) => name === before.name) ?? before;
  if (toolHash(tool) === agreed.hash) return undefined;
  const changes = toolChanges(agreed, tool);
  const answer = changes.length > MOST_ASKED ? undefined : await context.ask?.(changeText(server.name, tool, changes));
  if (answer?.approve) {
    await server.agree(tool);
    return undefined;
  }
  return {
    text: `DENIED: ${before.name} of the MCP server "${server.name}" has changed since it was trusted. For the user: review it with \`subcrew mcp trust ${server.name}\`.`,
    error: true,
  };
}

/** The changes are indented: at the left margin, the words of the server could imitate another question. */
const changeText = (server: string, { name }: OfferedTool, changes: string): string =>
  `The tool "${showHidden(name)}" of the MCP server "${server}" has changed since it was trusted. Use it as it is now?\n\n${changes.replace(/^/gm, "  ")}`;
