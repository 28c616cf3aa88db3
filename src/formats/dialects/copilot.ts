import type { Dialect } from "../../core/agent/dialect.ts";
import { addProblem, defineFields, type KeyReader } from "../fields/draft.ts";
import { isMarkdown, markdown } from "../fields/markdown.ts";
import { flag, kept, model, note, readThinking, text } from "../fields/rules.ts";
import { toolEntries } from "../fields/tool-entries.ts";
import { spawns } from "../fields/spawns.ts";
import { allowEntries, remembered, tools } from "../fields/tools.ts";
import { narrowing } from "../fields/narrowing.ts";

const EDIT = ["edit_file", "write_file"];
const SEARCH = ["grep_files", "glob", "list_files"];
const WEB = ["web_search", "http_get"];

/** Copilot's names for groups of tools, and the tools of VS Code that have a counterpart in subcrew. */
const GROUPS = {
  execute: ["bash"],
  read: ["read_file"],
  edit: EDIT,
  search: SEARCH,
  agent: ["task"],
  web: WEB,
  todo: ["todo"],
  multiedit: EDIT,
  write: EDIT,
  notebookedit: EDIT,
  grep: SEARCH,
  glob: SEARCH,
  websearch: WEB,
  webfetch: WEB,
  codebase: SEARCH,
  usages: SEARCH,
  findtestfiles: SEARCH,
  searchresults: SEARCH,
  textsearch: SEARCH,
  filesearch: SEARCH,
  editfiles: EDIT,
  new: EDIT,
  runcommands: ["bash"],
  runinterminal: ["bash"],
  listdirectory: ["list_files"],
  fetch: ["http_get"],
  fetchwebpage: ["http_get"],
  readfile: ["read_file"],
  viewimage: ["read_file"],
  getsearchviewresults: SEARCH,
  listcodeusages: SEARCH,
  createfile: EDIT,
  editnotebook: EDIT,
  getterminaloutput: ["bash_output"],
  sendtoterminal: ["bash"],
  killterminal: ["kill_shell"],
  todos: ["todo"],
  managetodolist: ["todo"],
  runsubagent: ["task"],
  shell: ["bash"],
};

/**
 * Matches a tool of VS Code's own tool sets, such as `search/codebase`. With any other word before the slash, the text
 * names a tool of an MCP server.
 */
const OWN_SET = /^(?:read|edit|search|execute|web|agent|todo|vscode)\//;

/** Matches a tool of an MCP server of the marketplace: `publisher/server/tool`. */
const PUBLISHER = /^[\w.-]+\/([\w.-]+\/[\w.*-]+)$/;

const copilotTools: KeyReader = remembered((draft, value, key) => {
  const spelled = (name: string): string => (OWN_SET.test(name) ? bareOf(name) : name.replace(PUBLISHER, "$1"));
  const list = toolEntries(value);
  if (list === undefined) return tools(GROUPS)(draft, value, key);
  allowEntries(
    draft,
    { ...list, named: list.named.map(spelled), excluded: list.excluded.map(spelled) },
    { key, groups: GROUPS },
  );
});

function bareOf(name: string): string {
  const [set, tool] = name.split("/") as [string, string];
  return Object.hasOwn(GROUPS, tool.toLowerCase()) ? tool : set;
}

/** Reads `name` as the display name; the agent is named after its file. */
const shownName: KeyReader = (draft, value, key) => {
  text("displayName")(draft, value, key);
  if (typeof value === "string" && value.trim() !== "") draft.aliases = [value.trim()];
};

/** Reads a retired key: the value `false` keeps models from choosing the agent. */
const infer: KeyReader = (draft, value, key) => {
  addProblem(draft, "deprecated", `"${key}" is deprecated; use "disable-model-invocation".`, { field: key });
  flag("hidden", { not: true })(draft, value, key);
};

/** GitHub Copilot's and VS Code's `.agent.md`, and any other Markdown in `.github/agents`. */
export const copilotDialect: Dialect = markdown({
  id: "copilot",
  accepts: isMarkdown,
  nameFromFile: true,
  freeName: true,
  description: "optional",
  fields: defineFields({
    ...narrowing(GROUPS),
    name: shownName,
    description: text("description"),
    tools: copilotTools,
    model,
    reasoningEffort: readThinking,
    agents: spawns,
    disableModelInvocation: flag("hidden"),
    infer,
    userInvocable: kept(),
    target: kept(),
    mcpServers: kept("has no effect in subcrew; import servers with `subcrew mcp import`"),
    hooks: kept("is never run from an agent file"),
    handoffs: kept(),
    argumentHint: kept(),
    deferredToolLoading: kept(),
    metadata: note,
  }),
});
