import { showHidden } from "../../core/agent/hidden-characters.ts";
import { suggestion } from "../../core/plan/check.ts";
import { CrewError } from "../../core/schema/error.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import type { Crew } from "../../crew/crew-type.ts";
import type { McpSession } from "../../tools/mcp/client.ts";
import { readResult } from "../../tools/mcp/result-text.ts";
import { serverNamed } from "./named.ts";
import { withServer } from "./with-server.ts";

/** A prompt of an MCP server, as a slash command of a conversation. */
export type ServerPrompt = Readonly<{
  /** The slash command: `/mcp__SERVER__PROMPT`. */
  command: string;
  about: string;
  wants: readonly Readonly<{ name: string; required: boolean }>[];
}>;

/** The server and the prompt that `mcp__SERVER__PROMPT` names. */
export function promptIn(word: string): Readonly<{ server: string; prompt: string }> | undefined {
  const [, server, prompt] = /^mcp__(.+?)__(.+)$/.exec(word) ?? [];
  return server === undefined || prompt === undefined ? undefined : { server, prompt };
}

/** The prompts of a server; the server is started for this. */
export async function serverPrompts(server: string, crew: Crew): Promise<readonly ServerPrompt[]> {
  const definition = serverNamed(server, crew);
  return withServer({ name: server, definition, crew }, async (session, signal) =>
    (await promptsOf(session, signal)).map(({ name, title, description, arguments: wants = [] }) => ({
      command: `/mcp__${server}__${name}`,
      about: clean(description ?? title ?? ""),
      wants: wants.map((each) => ({ name: each.name, required: each.required === true })),
    })),
  );
}

/**
 * The text of a prompt. Typed words become its arguments in order, and `name=value` sets an argument by name; surplus
 * words belong to the last argument.
 */
export async function serverPromptText(
  { server, prompt }: Readonly<{ server: string; prompt: string }>,
  words: readonly string[],
  crew: Crew,
): Promise<string> {
  const definition = serverNamed(server, crew);
  return withServer({ name: server, definition, crew }, async (session, signal) => {
    const all = await promptsOf(session, signal);
    const found = all.find(({ name }) => name === prompt);
    if (!found)
      throw new CrewError(
        "BAD_INPUT",
        `The MCP server "${server}" has no prompt "${prompt}".`,
        all.length === 0
          ? "The server offers no prompts."
          : suggestion(
              prompt,
              all.map(({ name }) => name),
              "Prompts of the server",
            ),
      );
    const values = promptArguments(
      words,
      (found.arguments ?? []).map(({ name }) => name),
    );
    const missing = (found.arguments ?? []).filter(({ name, required }) => required && !Object.hasOwn(values, name));
    if (missing.length > 0)
      throw new CrewError(
        "BAD_INPUT",
        `The prompt "${prompt}" needs ${missing.map(({ name }) => name).join(", ")}.`,
        `Write the arguments in order, or by name: /mcp__${server}__${prompt} ${missing.map(({ name }) => `${name}=...`).join(" ")}`,
      );
    const { messages } = await session.client.getPrompt({ name: prompt, arguments: values }, { signal });
    const said = messages.map(({ role, content }) => {
      const { text } = readResult({ content: [content] });
      return messages.length === 1 ? text : `${role}: ${text}`;
    });
    if (said.join("").trim() === "")
      throw new CrewError("BAD_INPUT", `The prompt "${prompt}" is empty.`, "Write the request in your own words.");
    return said.join("\n\n");
  });
}

/** Assigns the typed words to the arguments of a prompt, by name. */
export function promptArguments(words: readonly string[], names: readonly string[]): Record<string, string> {
  const values: Record<string, string> = {};
  const open = names.filter((name) => !words.some((word) => word.startsWith(`${name}=`)));
  let last: string | undefined;
  for (const word of words) {
    const named = names.find((name) => word.startsWith(`${name}=`));
    if (named !== undefined) {
      values[named] = word.slice(named.length + 1);
      last = named;
    } else {
      const next = open.shift();
      if (next !== undefined) values[next] = word;
      else if (last !== undefined) values[last] = `${values[last] ?? ""} ${word}`;
      last = next ?? last;
    }
  }
  return values;
}

async function promptsOf({ client }: McpSession, signal: AbortSignal) {
  if (!client.getServerCapabilities()?.prompts) return [];
  return (await client.listPrompts(undefined, { signal })).prompts;
}

const clean = (text: string): string => sanitize(showHidden(text.replace(/\s+/g, " ").trim())).slice(0, 200);
