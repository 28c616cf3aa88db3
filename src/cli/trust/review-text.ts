import { showHiddenInLine } from "../../core/agent/hidden-characters.ts";
import { maskAuth } from "../../core/agent/mask-auth.ts";
import { agentRuleText } from "../../core/rules/agent-rule.ts";
import { unifiedDiff } from "../../core/text/diff.ts";
import { reveal } from "../../core/text/sanitize.ts";
import { wrapLine } from "../../core/text/wrap-line.ts";
import type { Look } from "../../core/view/look.ts";
import { describeServer } from "../../core/vocabulary/mcp-server.ts";
import { spawnsText } from "../../core/vocabulary/spawn-list.ts";
import type { TrustStore } from "../../runtime/settings/trust.ts";
import { currentText, type ProjectSource, type TrustReview } from "../../runtime/settings/trust-review.ts";
import { markedRows } from "../terminal/questions.ts";

/**
 * The review of a project's files for a person: new files, changes, and the permissions and tools that each agent
 * asks for.
 */
export function reviewText({ root, brought, gone, since }: TrustReview, store: TrustStore, look: Look): string {
  const { colors } = look;
  const agreed = since === undefined ? "not trusted" : `trusted since ${since.slice(0, 10)}`;
  return [
    `${colors.bold(showHiddenInLine(root))}  ${agreed}`,
    ...brought.flatMap((source) => sourceLines(source, since === undefined ? undefined : store, look)),
    ...gone.map((file) => `  ${colors.dim("gone     ")} ${showHiddenInLine(file)}`),
  ]
    .map((line) => `${line}\n`)
    .join("");
}

/** The reviewed files with their changes. The overview is left out. */
export function changeText(sources: readonly ProjectSource[], store: TrustStore, look: Look): string {
  return sources.flatMap((source) => sourceLines(source, store, look)).join("\n");
}

function sourceLines(source: ProjectSource, store: TrustStore | undefined, look: Look): string[] {
  const { state, kind, names, file, hidden, found } = source;
  const { colors } = look;
  const shade = state === "same" ? colors.dim : colors.yellow;
  const title = [kind, ...names].map(showHiddenInLine).join(" ");
  const path = showHiddenInLine(file);
  const rows = fitting(`  ${state.padEnd(9)} ${title}  ${path}`);
  return [
    ...(rows.length === 1 ? [`  ${shade(state.padEnd(9))} ${title}  ${colors.dim(path)}`] : rows),
    ...(hidden ? [`            ${colors.red("The file contains hidden characters.")}`] : []),
    ...found
      .flatMap(({ problems }) => problems.filter(({ code }) => code === "look-alike"))
      .flatMap(({ message }) => fitting(`            ${showHiddenInLine(message)}`)),
    ...(kind === "agent" ? found.flatMap(wishesOf).flatMap((wish) => fitting(`            ${wish}`)) : []),
    ...(state === "changed" && store ? diffOf(source, store, look) : []),
  ];
}

/**
 * A line as rows of the terminal. Names and settings come from the project: where the terminal wrapped a row, they could
 * imitate another line of the review, so further rows are indented more than the first.
 */
function fitting(line: string): string[] {
  if (!process.stdout.isTTY) return [line];
  const columns = Math.max(20, process.stdout.columns - 1);
  return wrapLine(line, columns - FURTHER.length).flatMap((row, at) =>
    markedRows(at === 0 ? row : `${FURTHER}${row}`, columns),
  );
}

const FURTHER = "    ";

/** The diff between the trusted and the current content, if the trusted content was kept. */
function diffOf({ path, file, before }: ProjectSource, store: TrustStore, { colors }: Look): string[] {
  const old = before === undefined ? undefined : store.textOf(before);
  const text = currentText(path);
  if (old === undefined || text === undefined) return ["            The previous content is not known."];
  if (old === text)
    return [
      "            This file is the same. A file that it refers to, or a file in the folder of the skill, has changed.",
    ];
  const shades: Readonly<Record<string, (line: string) => string>> = {
    "+": colors.green,
    "-": colors.red,
    "@": colors.cyan,
  };
  return unifiedDiff(old, text, file)
    .trimEnd()
    .split("\n")
    .flatMap((line) => fitting(`    ${reveal(line)}`).map(shades[line.charAt(0)] ?? String));
}

/** The settings that an agent asks for, one line each. */
function wishesOf({ agent }: ProjectSource["found"][number]): string[] {
  const { tools, disallowedTools = [], rules = [], permission, spawns, model, mcpServers = {}, remote } = agent;
  const line = (name: string, values: readonly string[]): string[] =>
    values.length === 0 ? [] : [`${showHiddenInLine(name)}: ${values.map(showHiddenInLine).join(", ")}`];
  return [
    ...line(
      "tools",
      tools === undefined || tools.includes("*") ? ["every tool"] : tools.length === 0 ? ["none"] : tools,
    ),
    ...line("not", disallowedTools),
    ...line("rules", rules.flat().map(agentRuleText)),
    ...line("permission", permission === undefined ? [] : [permission]),
    ...line("starts", spawns === undefined || spawns.length === 0 ? [] : [spawnsText(spawns)]),
    ...line("model", model === undefined ? [] : [model].flat()),
    ...line("remote", remote === undefined ? [] : [JSON.stringify(maskAuth(remote))]),
    ...Object.entries(mcpServers).flatMap(([name, server]) =>
      server === true ? [] : line(`MCP server ${name}`, [describeServer(server)]),
    ),
  ];
}
