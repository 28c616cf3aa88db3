import { Buffer } from "node:buffer";
import { MAX_OUTPUT_BYTES, MAX_OUTPUT_LINES } from "../../core/cut.ts";
import { messageOf } from "../../core/error.ts";
import { showHidden } from "../../core/hidden-characters.ts";
import { isRecord } from "../../core/json.ts";
import { stableText } from "../../core/stable-hash.ts";
import type { Tool, ToolContext, ToolResult } from "../../core/tool.ts";
import type { OfferedTool } from "./client.ts";
import type { Lazy, ServerParts } from "./lazy-server.ts";
import { nameOf, type PinnedTool, toolHash } from "./pins.ts";
import { resultText } from "./result-text.ts";

const CALL_MS = 120_000;
/** Somebody may be asked, and takes the time it takes; the call itself has a clock of its own. */
const AS_LONG_AS_IT_TAKES = 2 ** 31 - 1;
const MOST_DESCRIPTION = 4_000;

export type ToolRules = Pick<ServerParts, "keep"> &
  Readonly<{ isTrusted(tool: string): boolean; say(text: string): void }>;

/**
 * A tool of a server as one of ours. It counts as one that changes things and runs programs, whatever it says about itself,
 * until a rule of the user trusts it. Its texts are those that were agreed to, never what the server says today.
 */
export function serverTool(server: Lazy, offered: PinnedTool, rules: ToolRules): Tool {
  const name = nameOf(server.name, offered.name);
  const harmless = offered.annotations?.readOnlyHint === true && rules.isTrusted(name);
  return {
    name,
    description: showHidden(offered.description ?? `A tool of the MCP server ${server.name}.`).slice(
      0,
      MOST_DESCRIPTION,
    ),
    input: offered.inputSchema,
    effect: harmless ? "read" : "write",
    subjects: (input) => [{ kind: "name", name: stableText(input ?? {}) }],
    timeoutMs: AS_LONG_AS_IT_TAKES,
    run: async (input, context) => {
      const args = isRecord(input) ? input : {};
      const session = await server.session(context.run, context.signal);
      try {
        const refused = await unchanged(server, offered, await session.tools(context.signal), context, rules);
        if (refused) return refused;
        const result = await session.call(offered.name, args, {
          signal: context.signal,
          timeoutMs: server.definition.timeoutMs ?? CALL_MS,
          report: context.report,
        });
        return { text: await fitting(resultText(result), context, rules), error: result.isError === true };
      } catch (error) {
        const words = [messageOf(error), session.complaint()].filter((part) => part !== "").join("; it said: ");
        return { text: `${name} failed: ${words}`, error: true };
      }
    },
  };
}

/** A tool that is not any more what was agreed to is asked about, whatever rules say; where nobody is, that is a no. */
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
        `\`subcrew mcp trust ${server.name}\` takes them in.`,
    );
  const tool = now.find(({ name }) => name === before.name);
  if (!tool) return { text: `The MCP server "${server.name}" does not offer ${before.name} any more.`, error: true };
  const agreed = seen.find(({ name }) => name === before.name) ?? before;
  if (toolHash(tool) === agreed.hash) return undefined;
  const answer = await context.ask?.(changeText(server.name, agreed, tool));
  if (answer?.approve) {
    await server.agree(tool);
    return undefined;
  }
  return {
    text: `DENIED: ${before.name} of the MCP server "${server.name}" is not what was agreed to any more. For the user: look at it with \`subcrew mcp trust ${server.name}\`.`,
    error: true,
  };
}

function changeText(server: string, before: OfferedTool, now: OfferedTool): string {
  const shown = (tool: OfferedTool): string =>
    showHidden(`${tool.description ?? ""}\n${JSON.stringify(tool.inputSchema)}`).slice(0, MOST_DESCRIPTION);
  return [
    `The tool "${before.name}" of the MCP server "${server}" has changed since it was agreed to. Use it as it is now?`,
    `Before:\n${shown(before)}`,
    `Now:\n${shown(now)}`,
  ].join("\n\n");
}

/** A long text with where all of it is; its end is cut like that of any tool. */
async function fitting(text: string, { run, path }: ToolContext, { keep }: Pick<ToolRules, "keep">): Promise<string> {
  if (Buffer.byteLength(text) <= MAX_OUTPUT_BYTES && text.split("\n", MAX_OUTPUT_LINES + 1).length <= MAX_OUTPUT_LINES)
    return text;
  const file = await keep(run, path, text).catch(() => undefined);
  return file === undefined ? text : `${text}\n[all of it is in ${file}]`;
}
