import { CrewError } from "../schema/error.ts";
import { nearest } from "../text/nearest.ts";
import { toolMatches, toolNames, toolsNamed } from "../vocabulary/tool-names.ts";
import type { LocatedSubject } from "./call-subject.ts";
import { foldPath } from "./fold-path.ts";
import { globMatcher, textMatches } from "./glob.ts";
import { urlMatches } from "./url-pattern.ts";

/** A rule of a policy: a tool, and a pattern for its argument. */
export type Rule = Readonly<{
  /** The canonical name of a tool, or a pattern for names such as `mcp_*`. */
  tool: string;
  /** The pattern for the argument; absent: every call of the tool. */
  pattern?: string;
  /** True: the pattern has no wildcards and must equal the argument, character by character. */
  exact?: true;
}>;

/** The name in a rule that stands for network access of commands in the sandbox. */
export const NETWORK = "network";

/** The name in a rule that stands for user namespaces in the sandbox. */
export const NAMESPACES = "namespaces";

/** The name in a rule that stands for remote agents, as in `a2a(https://agents.example.com/*)`. */
export const REMOTE = "a2a";

/**
 * Reads rules such as `bash(git log *)`, `write_file(src/**)`, `http_get(https://example.com/*)` or `delete_file`, with
 * the tool names of any supported program. A pattern after `=`, as in `bash(=make && make test)`, is the exact
 * argument. `own` are the names of tools that the library user passed. An invalid rule is an error: a rule that is
 * silently ignored would grant or deny something by accident.
 */
export function parseRules(texts: readonly string[], own: readonly string[] = []): Rule[] {
  return texts.flatMap((text) => parseRule(text.trim(), own));
}

function parseRule(text: string, own: readonly string[]): Rule[] {
  const parts = /^([^()]+?)\s*(?:\(([\s\S]*)\))?$/.exec(text);
  const name = parts?.[1]?.trim() ?? "";
  const exact = parts?.[2]?.startsWith("=") === true;
  const pattern = exact ? parts?.[2]?.slice(1) : parts?.[2]?.trim();
  const tools = WORDS.includes(name) || own.includes(name) ? [name] : toolsNamed(name);
  if (tools.length === 0) {
    const close = nearest(name, [...toolNames, ...own]);
    const hint =
      close === undefined
        ? "A rule looks like bash(git log *), write_file(src/**) or http_get."
        : `Did you mean "${close}"?`;
    throw new CrewError("UNKNOWN_TOOL", `The rule "${text}" does not name a known tool.`, hint);
  }
  if (pattern === "")
    throw new CrewError(
      "BAD_INPUT",
      `The rule "${text}" has an empty pattern.`,
      `Write "${name}" to match every call.`,
    );
  return tools.map((tool) => ({
    tool,
    ...(pattern !== undefined && (exact || pattern !== "*") && { pattern, ...(exact && { exact }) }),
  }));
}

/** Names that a rule may use besides the names of tools. */
const WORDS: readonly string[] = [NETWORK, NAMESPACES, REMOTE];

/** The rule that covers exactly this subject and nothing else. */
export function exactRule(tool: string, pattern: string): Rule {
  return { tool, pattern, exact: true };
}

/** A rule as text, in the form in which it is written. */
export function ruleText({ tool, pattern, exact }: Rule): string {
  return pattern === undefined ? tool : `${tool}(${exact ? "=" : ""}${pattern})`;
}

/**
 * Whether a rule matches a tool call. An allow rule must match every path of the subject (links have several) and
 * covers only what it spells. A deny rule matches if it matches one of the paths, in any spelling, and covers
 * everything below that path. `judge-command.ts` matches commands.
 */
export function ruleFits(
  rule: Rule,
  tool: string,
  subject: LocatedSubject | undefined,
  as: "permission" | "ban",
): boolean {
  if (!toolMatches(rule.tool, tool)) return false;
  if (rule.pattern === undefined) return true;
  if (subject === undefined) return as === "ban"; // the subject of the tool call is unknown
  return as === "permission" ? permits(rule, rule.pattern, subject) : bans(rule, rule.pattern, subject);
}

function permits({ exact }: Rule, pattern: string, subject: LocatedSubject): boolean {
  switch (subject.kind) {
    case "path":
      return exact
        ? subject.places.at(-1) === pattern
        : subject.places.length > 0 && subject.places.every(permitted(wholeFolder(pattern), subject.change));
    case "url":
      return exact ? subject.url === pattern : urlMatches(pattern, subject.url);
    case "name":
      return exact ? subject.name === pattern : textMatches(pattern, subject.name);
    case "command":
      return exact === true && subject.command === pattern;
  }
}

/** A pattern for everything in a folder also lets the folder itself be searched and listed, but not changed. */
function permitted(pattern: string, change: boolean): (place: string) => boolean {
  const matches = pathMatcher(pattern);
  const inner = !change && /[^*/]\/\*\*$/.test(pattern) ? pattern.slice(0, -3) : undefined;
  if (inner === undefined) return matches;
  const folder = pathMatcher(inner.includes("/") ? inner : `./${inner}`);
  return (place) => matches(place) || folder(place);
}

function bans(rule: Rule, pattern: string, subject: LocatedSubject): boolean {
  if (subject.kind === "path") return subject.places.some(pathBan(pattern));
  if (subject.kind === "url") return urlMatches(pattern, subject.url, "ban");
  return permits(rule, pattern, subject);
}

/** Whether a deny pattern covers a path: in any spelling, with everything below the path. */
export function pathBan(pattern: string): (place: string) => boolean {
  const folded = foldPath(wholeFolder(pattern));
  const matches = pathMatcher(folded);
  const inner = folded.endsWith("/**") ? folded.slice(0, -3) : undefined;
  const folder = inner === undefined ? matches : pathMatcher(inner.includes("/") ? inner : `./${inner}`);
  return (place) => withFoldersAbove(foldPath(place)).some((each) => matches(each) || folder(each));
}

/**
 * Patterns are relative to the workspace. A pattern that begins with a slash is an absolute path. A pattern without any
 * slash is a name at any depth.
 */
function pathMatcher(pattern: string): (place: string) => boolean {
  const absolute = pattern.startsWith("/");
  const anywhere = !pattern.includes("/") || pattern.startsWith("**");
  const anchored = pattern.startsWith("./") ? `/${pattern.slice(2)}` : pattern;
  const matches = globMatcher(anchored);
  return (place) => {
    if (!place.startsWith("/")) return !absolute && matches(place);
    return (absolute || anywhere) && matches(place.slice(1));
  };
}

/** A pattern with a slash at its end means a folder with everything in it. */
function wholeFolder(pattern: string): string {
  return pattern.endsWith("/") ? `${pattern}**` : pattern;
}

function withFoldersAbove(path: string): string[] {
  const steps = path.split("/");
  return steps.map((_, at) => steps.slice(0, at + 1).join("/")).filter((each) => each !== "");
}
