import { defined } from "../../core/text/defined.ts";
import { isRecord } from "../../core/text/json.ts";
import { type McpContent, type McpResult, type McpSession, type OfferedTool, requestOptions } from "./client.ts";

/** Maximum number of entries in a list of resources or prompts. */
const MOST_ENTRIES = 500;

type Content = Readonly<{
  /** The MCP capability with which a server announces that it has this kind of content. */
  capability: "resources" | "prompts";
  offered: OfferedTool;
  call(client: Client, args: Readonly<Record<string, unknown>>, options: RequestOptions): Promise<McpResult>;
}>;

type Client = McpSession["client"];
type RequestOptions = ReturnType<typeof requestOptions>;

const readOnly = { readOnlyHint: true, openWorldHint: true };

/** The tools with which agents read the resources and prompts of a server. */
const contents: readonly Content[] = [
  {
    capability: "resources",
    offered: {
      name: "read_resource",
      description:
        "Reads a resource of this MCP server by its URI. Without `uri` it lists the resources and the URI templates of the server.",
      inputSchema: {
        type: "object",
        properties: {
          uri: { type: "string", description: "URI of a resource, from the list or made from a template" },
        },
      },
      annotations: readOnly,
    },
    call: async (client, { uri }, options) => {
      if (typeof uri !== "string" || uri === "") return listResources(client, options);
      const { contents: found } = await client.readResource({ uri }, options);
      return found.length === 0
        ? said(`The resource ${uri} is empty.`)
        : { content: found.map((resource) => ({ type: "resource", resource })) };
    },
  },
  {
    capability: "prompts",
    offered: {
      name: "get_prompt",
      description:
        "Gets a prompt (a prepared text for a kind of work) of this MCP server by its name. Without `name` it lists the prompts of the server and their arguments.",
      inputSchema: {
        type: "object",
        properties: {
          name: { type: "string", description: "name of a prompt, from the list" },
          arguments: { type: "object", description: "values of the prompt's arguments", additionalProperties: true },
        },
      },
      annotations: readOnly,
    },
    call: async (client, { name, arguments: values }, options) => {
      if (typeof name !== "string" || name === "") return listPrompts(client, options);
      const { messages } = await client.getPrompt({ name, arguments: textsIn(values) }, options);
      const alone = messages.length === 1;
      const content = messages.flatMap(({ role, content: block }): McpContent[] =>
        alone ? [block] : [{ type: "text", text: `${role}:` }, block],
      );
      return content.length === 0 ? said(`The prompt ${name} is empty.`) : { content };
    },
  },
];

/**
 * Adds tools for the server's resources and prompts to a session. A tool of the server with the same name takes
 * precedence.
 */
export function withContentTools<S extends McpSession>(session: S): S {
  const { client } = session;
  let added: readonly Content[] = [];
  return {
    ...session,
    tools: async (signal, timeoutMs) => {
      const own = await session.tools(signal, timeoutMs);
      const declared = client.getServerCapabilities() ?? {};
      added = contents.filter(
        ({ capability, offered }) => declared[capability] && !own.some(({ name }) => name === offered.name),
      );
      return [...own, ...added.map(({ offered }) => offered)];
    },
    call: (name, args, options) =>
      added.find(({ offered }) => offered.name === name)?.call(client, args, requestOptions(options)) ??
      session.call(name, args, options),
  };
}

async function listResources(client: Client, options: RequestOptions): Promise<McpResult> {
  const { resources } = await client.listResources(undefined, options);
  // A server without resource templates may not know the request, so its error is ignored.
  const { resourceTemplates } = await client
    .listResourceTemplates(undefined, options)
    .catch(() => ({ resourceTemplates: [] }));
  return listed([
    ["Resources", resources.map((each) => entry(each.uri, defined(each)))],
    ["Templates of URIs", resourceTemplates.map((each) => entry(each.uriTemplate, defined(each)))],
  ]);
}

async function listPrompts(client: Client, options: RequestOptions): Promise<McpResult> {
  const { prompts } = await client.listPrompts(undefined, options);
  const entries = prompts.map(({ name, title, description, arguments: wanted = [] }) =>
    [
      entry(name, defined({ title, description })),
      ...wanted.map((each) => `    ${each.name}${each.required ? " (required)" : ""}${about(each.description)}`),
    ].join("\n"),
  );
  return listed([["Prompts", entries]]);
}

type Described = Readonly<{ name?: string; title?: string; description?: string; mimeType?: string }>;

function entry(key: string, { name, title = name, description, mimeType }: Described): string {
  const named = title === undefined || title === key ? undefined : title;
  const facts = [named, mimeType].filter((fact) => fact !== undefined).join(", ");
  return `- ${key}${facts === "" ? "" : ` (${facts})`}${about(description)}`;
}

const about = (description: string | undefined): string =>
  description === undefined || description === "" ? "" : `: ${description.replace(/\s+/g, " ").trim()}`;

function listed(lists: readonly (readonly [heading: string, entries: readonly string[]])[]): McpResult {
  const parts = lists
    .filter(([, entries]) => entries.length > 0)
    .map(([heading, entries]) => {
      const left = entries.length - MOST_ENTRIES;
      const more = left > 0 ? [`${left} more entries are not listed.`] : [];
      return [`${heading}:`, ...entries.slice(0, MOST_ENTRIES), ...more].join("\n");
    });
  return said(parts.length === 0 ? "The server lists no entries." : parts.join("\n\n"));
}

const said = (text: string): McpResult => ({ content: [{ type: "text", text }] });

/** The arguments of a prompt; the protocol allows only strings. */
function textsIn(values: unknown): Record<string, string> {
  if (!isRecord(values)) return {};
  return Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]),
  );
}
