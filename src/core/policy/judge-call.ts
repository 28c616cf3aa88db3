import type { AgentRule, AgentRules } from "../rules/agent-rule.ts";
import { type ClosedPlace, type LocatedSubject, placed } from "../rules/call-subject.ts";
import { foldPath } from "../rules/fold-path.ts";
import { covers, type Lease } from "../rules/lease.ts";
import { pathBan, type Rule, ruleFits, ruleText } from "../rules/rule.ts";
import type { ToolClass } from "../vocabulary/tool-class.ts";
import { FILE_CHANGING_TOOLS, toolMatches } from "../vocabulary/tool-names.ts";
import { type AgentBound, type Policy, type PolicyLevel, rulesFor } from "./policy.ts";
import { type LocalPlaces, protectedPart } from "./protected-paths.ts";
import { secretNamed } from "./secret-paths.ts";
import { strictest, type Verdict } from "./verdict.ts";

/** The part of a tool call that the policy needs. */
export type CallToJudge = Readonly<{
  tool: string;
  does: ToolClass;
  effect: "read" | "write";
  subjects: readonly LocatedSubject[];
  /** How commands run in this task; absent if the task cannot run any. */
  shell?: ShellState;
}>;

export type ShellState = Readonly<{
  /** True: commands run in a sandbox that was tested before its use. */
  sandboxed: boolean;
  /** True: the user disabled the sandbox. */
  waived: boolean;
  /** Real paths of the writable folders; commands start in the first folder. */
  roots: readonly string[];
  /** How permission rules name the first folder; empty when it is the workspace. */
  place?: string;
}>;

/**
 * Judges a tool call by the kind of its tool (reading, writing, ...) and by the rules about its subjects (the paths,
 * URLs or commands in its arguments); the strictest verdict wins.
 */
export function judgeCall(policy: Policy, ask: CallToJudge): Verdict {
  const [first, ...rest] = ask.subjects.length === 0 ? [undefined] : ask.subjects;
  return strictest(judgeSubject(policy, ask, first), ...rest.map((subject) => judgeSubject(policy, ask, subject)));
}

function judgeSubject(policy: Policy, ask: CallToJudge, subject: LocatedSubject | undefined): Verdict {
  const refused = banned(policy, ask, subject) ?? unleased(policy, subject) ?? closedTo(policy, ask.tool, subject);
  if (refused) return refused;
  const spoken = policy.bounds.flatMap((bound) =>
    [
      boundVerdict(bound, ask.tool, lastFitting(bound.rules, ask.tool, subject)) ?? [],
      readingVerdict(bound, ask, subject) ?? [],
    ].flat(),
  );
  return spoken.find(({ decision }) => decision === "deny") ?? strictest(byRules(policy, ask, subject), ...spoken);
}

function byRules(policy: Policy, ask: CallToJudge, subject: LocatedSubject | undefined): Verdict {
  const base = byMode(policy.level, ask, subject);
  if (base.decision === "deny") return base;
  const kept = subject?.kind === "path" && subject.change ? shielded(policy, ask.tool, subject) : undefined;
  if (kept) return kept;
  const fits =
    (as: "permission" | "ban") =>
    (rule: Rule): boolean =>
      ruleFits(rule, ask.tool, subject, as);
  const asked =
    policy.ask.find(fits("ban")) ??
    (showsContent(ask, subject) ? policy.ask.find((rule) => asksAbout(rule, subject)) : undefined);
  if (asked)
    return {
      decision: "ask",
      rule: `ask ${ruleText(asked)}`,
      why: "a rule requires approval",
      hint: `Remove the rule "${ruleText(asked)}".`,
    };
  const allowed = policy.allow.find(fits("permission"));
  return allowed ? { decision: "allow", rule: `allow ${ruleText(allowed)}`, why: "", hint: "" } : base;
}

/** Whether a call can show the content of the file or folder that it names; listings show only names. */
function showsContent(
  { tool, does }: Pick<CallToJudge, "tool" | "does">,
  subject: LocatedSubject | undefined,
): subject is Extract<LocatedSubject, { kind: "path" }> {
  return subject?.kind === "path" && (does === "read" || does === "write") && !NAMING_TOOLS.includes(tool);
}

/** Whether a rule requires approval before a file is read, whichever tool reads it. */
function asksAbout(rule: Rule, { places }: Extract<LocatedSubject, { kind: "path" }>): boolean {
  if (rule.pattern === undefined || !READING_TOOLS.some((tool) => toolMatches(rule.tool, tool))) return false;
  const covers = pathBan(rule.pattern);
  return places.some((place) => covers(place === "" ? ANY_NAME : place));
}

/** The verdict of an agent's `read_file` rules on a file that another tool reads. */
function readingVerdict(bound: AgentBound, ask: CallToJudge, subject: LocatedSubject | undefined): Verdict | undefined {
  if (!showsContent(ask, subject)) return undefined;
  const rule = lastFitting(bound.rules, "read_file", subject);
  return rule?.pattern === undefined || (rule.says === "deny" && subject.change)
    ? undefined
    : boundVerdict(bound, "read_file", rule);
}

/** Applies deny rules about files: a deny rule for one tool that reads or writes files applies to all such tools. */
export function banned(
  policy: Policy,
  { tool, does }: Pick<CallToJudge, "tool" | "does">,
  subject: LocatedSubject | undefined,
): Verdict | undefined {
  const isFileTool = does === "write" || does === "read";
  const kin = subject?.kind === "path" && isFileTool ? KIN[subject.change ? "write" : "read"] : [];
  const found = policy.deny.find(
    (rule) =>
      ruleFits(rule, tool, subject, "ban") ||
      (rule.pattern !== undefined && kin.some((other) => ruleFits(rule, other, subject, "ban"))),
  );
  return (
    found && {
      decision: "deny",
      rule: `deny ${ruleText(found)}`,
      why: "a rule forbids the call",
      hint: `Remove the rule "${ruleText(found)}" to allow the call.`,
    }
  );
}

/**
 * The refusal of a file outside of the leases. A task may write only files in its own lease (the files that it declared
 * to write), and each of them must be in the leases of its parents, too.
 */
function unleased({ leases = [] }: Policy, subject: LocatedSubject | undefined): Verdict | undefined {
  if (subject?.kind !== "path" || !subject.change) return undefined;
  const lease = leases.find((each) => !subject.places.every((place) => covers(each, place)));
  return lease && outsideLease(lease);
}

export function outsideLease({ of, globs }: Lease): Verdict {
  if (globs.length === 0)
    return {
      decision: "deny",
      rule: `read-only sandbox of ${of}`,
      why: `${of} may not change files`,
      hint: `Remove the read-only sandbox of ${of}.`,
    };
  return {
    decision: "deny",
    rule: `writes of ${of}`,
    why: `${of} may only write ${globs.join(", ")}`,
    hint: `Add the file to the \`writes\` of ${of}.`,
  };
}

/**
 * The refusal for a forbidden path. A secret path needs a rule that names it, in every mode; subcrew's state folder is
 * never accessible.
 */
function closedTo(policy: Policy, tool: string, subject: LocatedSubject | undefined): Verdict | undefined {
  if (subject?.kind !== "path" || subject.closed === undefined) return undefined;
  const { closed, places } = subject;
  if (places.every((place) => isOpened(policy, tool, { place, closed }))) return undefined;
  if (closed.kind === "state")
    return {
      decision: "deny",
      rule: "state folder",
      why: "subcrew keeps its settings, logins and journals in this folder, and no agent may read or change them",
      hint: "Keep the state folder outside of the folders that agents work in.",
    };
  return {
    decision: "deny",
    rule: `secret ${closed.name}`,
    why: `"${closed.name}" may hold secrets, so a rule must name it explicitly`,
    hint: `Allow the call with --allow '${tool}(${places.at(-1) ?? ""})'.`,
    allow: `${tool}(${places.at(-1) ?? ""})`,
  };
}

/**
 * Whether a user's rule allows a tool to access a secret path: the rule must name the secret place and match the path.
 */
export function isOpened(
  { allow }: Policy,
  tool: string,
  { place, closed }: Readonly<{ place: string; closed: ClosedPlace }>,
): boolean {
  if (closed.kind === "state") return false;
  return allow.some(
    (rule) =>
      rule.pattern !== undefined &&
      (secretNamed(rule.pattern) !== undefined || rule.pattern === place) &&
      ruleFits(rule, tool, placed(place, false), "permission"),
  );
}

/** The tools that read files or show their names. */
const READING_TOOLS = ["read_file", "list_files", "get_file_info", "grep_files", "glob"] as const;
/** The reading tools that show names of files, but no content. */
const NAMING_TOOLS: readonly string[] = ["list_files", "glob"];
/** Stands for a file with any name: only patterns that match every name match this name. */
const ANY_NAME = "\u0001";
const KIN = { read: READING_TOOLS, write: FILE_CHANGING_TOOLS } as const;

/** Whether a rule or a lease restricts which files are read or written. */
export function limitsFiles({ deny, ask, bounds, leases = [] }: Policy): boolean {
  const rules = [...deny, ...ask, ...bounds.flatMap((bound) => bound.rules)];
  return leases.length > 0 || [...KIN.read, ...KIN.write].some((tool) => rulesFor(rules, tool).length > 0);
}

/**
 * Returns a test for paths that rules forbid to read, including rules in the agent's file; `undefined` when the rules
 * forbid nothing.
 */
export function readBans(policy: Policy): ((place: string) => boolean) | undefined {
  const bans = [...readBanPatterns(policy).map(pathBan), ...boundReads(policy, "deny")];
  return bans.length === 0 ? undefined : (place) => bans.some((covers) => covers(place));
}

/**
 * Returns a function that tells whether a rule asks before a path is read. A call that was approved for other subjects
 * must leave such a path out. `undefined`: no rule asks. A rule that covers a subject of the call itself is not tested,
 * because the approval of the call included it.
 */
export function readAsks(
  policy: Policy,
  tool: string,
  judged: readonly LocatedSubject[],
): ((place: string) => boolean) | undefined {
  if (NAMING_TOOLS.includes(tool)) return undefined;
  const named = judged.flatMap((subject) => (subject.kind === "path" ? subject.places : []));
  const asks = [...patternsOf(policy.ask).map(pathBan), ...boundReads(policy, "ask")].filter(
    (covers) => !named.some((place) => covers(place === "" ? ANY_NAME : place)),
  );
  return asks.length === 0 ? undefined : (place) => asks.some((covers) => covers(place));
}

/** Tests for the paths about which the rules of agent files make this decision, for tools that read files. */
function boundReads({ bounds }: Policy, says: "ask" | "deny"): ((place: string) => boolean)[] {
  return bounds
    .filter(({ rules }) => rulesFor(rules, "read_file").some((rule) => rule.says === says && rule.pattern))
    .map(({ rules }) => (place) => {
      const rule = lastFitting(rules, "read_file", placed(place, false));
      return rule?.says === says && rule.pattern !== undefined;
    });
}

/** The patterns of the rules that forbid to read files. */
export function readBanPatterns({ deny }: Policy): string[] {
  return patternsOf(deny);
}

/** The patterns of the rules about tools that read. */
function patternsOf(given: readonly Rule[]): string[] {
  const rules = READING_TOOLS.flatMap((tool) => rulesFor(given, tool));
  return [...new Set(rules.flatMap(({ pattern }) => (pattern === undefined ? [] : [pattern])))];
}

/** The rule that forbids every call of a tool; `undefined` when the arguments matter. */
export function barred(
  { level, deny, bounds }: Policy,
  { tool, does, effect }: Pick<CallToJudge, "tool" | "does" | "effect">,
): string | undefined {
  const ban = rulesFor(deny, tool).find(({ pattern }) => pattern === undefined);
  if (ban) return `deny ${ruleText(ban)}`;
  const bound = bounds.find(({ rules }) => isShut(rulesFor(rules, tool)));
  if (bound) return `${bound.key} of ${bound.of}`;
  const verdict = byMode(level, { tool, does, effect }, undefined);
  return verdict.decision === "deny" ? verdict.rule : undefined;
}

/** True when an agent's rules deny every call of a tool and no later rule allows any of them. */
export function isShut(about: AgentRules): boolean {
  const last = about.findLastIndex(({ pattern }) => pattern === undefined);
  return about[last]?.says === "deny" && about.slice(last).every(({ says }) => says === "deny");
}

/** Whether an allow rule covers a protected path with everything in it. */
export function lifts({ allow, ...local }: Pick<Policy, "allow"> & LocalPlaces, place: string): boolean {
  return allow.some(({ tool, pattern, ...rule }) => {
    if (pattern === undefined || protectedPart(pattern, local) === undefined || !FILE_CHANGING_TOOLS.includes(tool))
      return false;
    return (
      foldPath(pattern) === foldPath(place) ||
      ruleFits({ ...rule, tool, pattern }, tool, placed(`${place}/any/thing`, true), "permission")
    );
  });
}

function lastFitting(rules: AgentRules, tool: string, subject: LocatedSubject | undefined): AgentRule | undefined {
  return rules.findLast((rule) => ruleFits(rule, tool, subject, rule.says === "allow" ? "permission" : "ban"));
}

/** The verdict of an agent file's rules; `undefined` when no rule matches. */
export function boundVerdict(
  { of, key, rules }: AgentBound,
  tool: string,
  fitting: Pick<AgentRule, "says"> | undefined,
): Verdict | undefined {
  if (fitting === undefined || fitting.says === "allow") return undefined;
  const rule = `${key} of ${of}`;
  const hint = `Change the ${key} of ${of}.`;
  if (fitting.says === "ask")
    return { decision: "ask", rule, why: `the agent file of ${of} requires approval`, hint, inPerson: true };
  const left = rulesFor(rules, tool).filter(({ says }) => says === "allow");
  const why =
    left.length > 0
      ? `${of} may only use ${left.map(ruleText).join(", ")}`
      : `the agent file of ${of} forbids the call`;
  return { decision: "deny", rule, why, hint };
}

/**
 * The verdict on a protected path, that is, a file that is executed or loaded later without another approval. It needs
 * a rule that names it; a broader rule is not enough.
 */
function shielded(
  policy: Policy,
  tool: string,
  subject: Extract<LocatedSubject, { kind: "path" }>,
): Verdict | undefined {
  const part = subject.places.map((place) => protectedPart(place, policy)).find((found) => found !== undefined);
  if (part === undefined) return undefined;
  const named = policy.allow.some(
    (rule) =>
      rule.pattern !== undefined &&
      protectedPart(rule.pattern, policy) !== undefined &&
      ruleFits(rule, tool, subject, "permission"),
  );
  if (named) return undefined;
  const place = subject.places[0] ?? part;
  return {
    decision: "deny",
    rule: `protected ${part}`,
    why: `"${part}" is executed or loaded as configuration later, so a rule must name it explicitly`,
    hint: `Allow the call with --allow '${tool}(${place})'.`,
    allow: `${tool}(${place})`,
  };
}

/** The verdict of each permission mode for each kind of tool when no rule matches. */
const byLevel: Readonly<
  Record<
    PolicyLevel,
    Readonly<
      Record<Exclude<ToolClass, "net">, Verdict["decision"]> & { fetch: Verdict["decision"]; send: Verdict["decision"] }
    >
  >
> = {
  plan: {
    read: "allow",
    none: "allow",
    memory: "deny",
    write: "deny",
    exec: "deny",
    spawn: "allow",
    fetch: "ask",
    send: "deny",
  },
  default: {
    read: "allow",
    none: "allow",
    memory: "allow",
    write: "ask",
    exec: "ask",
    spawn: "allow",
    fetch: "ask",
    send: "ask",
  },
  acceptEdits: {
    read: "allow",
    none: "allow",
    memory: "allow",
    write: "allow",
    exec: "ask",
    spawn: "allow",
    fetch: "ask",
    send: "ask",
  },
  bypass: {
    read: "allow",
    none: "allow",
    memory: "allow",
    write: "allow",
    exec: "allow",
    spawn: "allow",
    fetch: "allow",
    send: "allow",
  },
};

const WHY: Readonly<Record<ToolClass, string>> = {
  read: "the call reads",
  none: "",
  memory: "the call changes notes",
  write: "the call changes files",
  exec: "the call runs a program",
  net: "the call uses the network",
  spawn: "the call starts agents",
};

/** The verdict of the permission mode alone. */
export function byMode(
  level: PolicyLevel,
  { tool, does, effect }: Pick<CallToJudge, "tool" | "does" | "effect">,
  subject: LocatedSubject | undefined,
): Verdict {
  const decision = byLevel[level][does === "net" ? (effect === "read" ? "fetch" : "send") : does];
  const rule = `mode ${level}`;
  if (decision === "allow") return { decision, rule, why: "", hint: "" };
  if (decision === "deny")
    return {
      decision,
      rule,
      why: `${WHY[does]}, and only reading is allowed here`,
      hint: "Run the task without plan mode.",
    };
  const also = does === "write" ? ", or accept all edits with --permission-mode acceptEdits" : "";
  return {
    decision,
    rule,
    why: WHY[does],
    hint: `Allow the call with --allow '${suggestedRule(tool, subject)}'${also}.`,
    allow: suggestedRule(tool, subject),
  };
}

/** The narrowest rule that would have allowed this call. */
function suggestedRule(tool: string, subject: LocatedSubject | undefined): string {
  switch (subject?.kind) {
    case "path":
      return `${tool}(${subject.places[0] ?? ""})`;
    case "url":
      return `${tool}(${subject.url})`;
    case "name":
      return `${tool}(${subject.name})`;
    default:
      return tool;
  }
}
