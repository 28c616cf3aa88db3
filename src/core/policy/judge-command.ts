import { placed } from "../rules/call-subject.ts";
import { type Rule, ruleText } from "../rules/rule.ts";
import { readOnlyPaths } from "../shell/known-commands.ts";

import type { ShellCommand, ShellRedirect } from "../shell/parse.ts";
import { defined } from "../text/defined.ts";
import { type Line, readLine } from "./command-line.ts";
import { isCovered, isHarmless, isMentioned, isNamed, spells, wordsOf } from "./command-rule.ts";
import {
  banned,
  boundVerdict,
  byMode,
  type CallToJudge,
  judgeCall,
  readAsks,
  limitsFiles,
  outsideLease,
  type ShellState,
} from "./judge-call.ts";
import { type AgentBound, type Policy, rulesFor } from "./policy.ts";
import { strictest, type Verdict } from "./verdict.ts";

/**
 * Judges a command line by every command in it. An allow rule covers only what it spells, word by word. A deny rule
 * refuses the commands that it names, and every line that cannot be parsed with certainty; a line that mentions these
 * words elsewhere asks. Rules only save questions to the person: the security boundary is the sandbox, and every command
 * stays in it, whatever a rule says.
 */
export function judgeCommand(policy: Policy, ask: CallToJudge, command: string): Verdict {
  const line = readLine(command);
  const refused = forbidden(policy, ask, command, line) ?? unbounded(policy, ask.shell ?? NOWHERE);
  if (refused) return refused;
  const bounds = policy.bounds.flatMap((bound) => boundOn(bound, ask.tool, command, line));
  const verdicts = [byRules(policy, ask, command, line), ...bounds];
  return (
    bounds.find(({ decision }) => decision === "deny") ??
    strictest(mentioning(policy, ask, command) ?? verdicts[0]!, ...verdicts)
  );
}

function byRules(policy: Policy, ask: CallToJudge, command: string, line: Line): Verdict {
  const subject = { kind: "command", command } as const;
  const base = byMode(policy.level, ask, subject);
  if (base.decision === "deny") return base;
  const shell = ask.shell ?? NOWHERE;
  const files = line.commands.flatMap(({ redirects }) =>
    redirects.map((redirect) => judgeRedirect(policy, shell, redirect, line)),
  );
  const denied = files.find(({ decision }) => decision === "deny");
  if (denied) return denied;
  const asked = rulesFor(policy.ask, ask.tool).find(
    (rule) => line.problem !== undefined || isNamed(rule, command, line.commands) || isMentioned(rule, command),
  );
  if (asked)
    return {
      decision: "ask",
      rule: `ask ${ruleText(asked)}`,
      why: "a rule requires approval",
      hint: `Remove the rule "${ruleText(asked)}".`,
    };
  return withSandbox(
    shell,
    freely(policy, ask, command) ??
      strictest(wordByWord(policy, ask, line, shell) ?? suggesting(policy, ask, line, base), ...files),
  );
}

/**
 * The refusal of a command in a task with a lease (the files that it may write). Only the sandbox can enforce a lease
 * on commands, so without a sandbox the command is denied.
 */
function unbounded({ leases: [lease] = [] }: Policy, { sandboxed }: ShellState): Verdict | undefined {
  if (lease === undefined || sandboxed) return undefined;
  return {
    ...outsideLease(lease),
    why: `${outsideLease(lease).why}, and no sandbox is available that restricts commands to these files`,
  };
}

/** The question about a line that mentions what a deny rule names, unless a rule allows exactly this line. */
function mentioning(policy: Policy, { tool }: CallToJudge, command: string): Verdict | undefined {
  const exact = rulesFor(policy.allow, tool).some((rule) => rule.exact && rule.pattern === command);
  const rule = exact ? undefined : rulesFor(policy.deny, tool).find((each) => isMentioned(each, command));
  return (
    rule && {
      decision: "ask",
      rule: `deny ${ruleText(rule)}`,
      why: `the line mentions \`${wordsOf(rule.pattern!).words.join(" ")}\`, which a rule denies`,
      hint: `Remove the rule "${ruleText(rule)}", or allow exactly this line.`,
      inPerson: true,
    }
  );
}

const NOWHERE: ShellState = { sandboxed: false, waived: false, roots: [] };

function forbidden(policy: Policy, ask: CallToJudge, command: string, line: Line): Verdict | undefined {
  const bans = rulesFor(policy.deny, ask.tool);
  const whole = bans.find(({ pattern }) => pattern === undefined);
  const ban = whole ?? bans.find((rule) => isNamed(rule, command, line.commands));
  if (ban)
    return {
      decision: "deny",
      rule: `deny ${ruleText(ban)}`,
      why: "a rule forbids the command",
      hint: `Remove the rule "${ruleText(ban)}" to allow the command.`,
    };
  if (bans[0] && line.problem !== undefined) {
    return {
      decision: "deny",
      rule: `deny ${ruleText(bans[0])}`,
      why: `some rules forbid commands, and this command cannot be parsed reliably: ${line.problem}`,
      hint: "Use plain commands only.",
    };
  }
  return undefined;
}

/** The verdicts of an agent file's rules on a command line: on each of its commands, and on what it mentions. */
function boundOn(bound: AgentBound, tool: string, command: string, line: Line): Verdict[] {
  const about = rulesFor(bound.rules, tool);
  const own = about.slice(
    Math.max(
      0,
      about.findLastIndex(({ pattern }) => pattern === undefined),
    ),
  );
  const last = line.commands.map((each) =>
    own.findLastIndex((rule) => (rule.says === "allow" ? isCovered([rule], each) : isNamed(rule, "", [each]))),
  );
  const said = line.problem === undefined ? last.flatMap((at) => own[at] ?? []) : own;
  const mentioned = own.filter(
    (rule, at) => at > Math.min(...last) && rule.says !== "allow" && isMentioned(rule, command),
  );
  return [...said, ...mentioned.map((rule) => ({ ...rule, says: "ask" as const }))].flatMap(
    (rule) => boundVerdict(bound, tool, rule) ?? [],
  );
}

/**
 * The verdict of a rule that allows all commands, or exactly this text: such a rule needs no parsing of the command.
 */
function freely(policy: Policy, { tool }: CallToJudge, command: string): Verdict | undefined {
  const rule = rulesFor(policy.allow, tool).find(
    ({ pattern, exact }) => pattern === undefined || (exact && pattern === command),
  );
  return rule && { decision: "allow", rule: `allow ${ruleText(rule)}`, why: "", hint: "" };
}

function wordByWord(policy: Policy, { tool }: CallToJudge, line: Line, shell: ShellState): Verdict | undefined {
  if (line.problem !== undefined || line.commands.length === 0) return undefined;
  const rules = rulesFor(policy.allow, tool);
  let rule = "only reads";
  for (const command of line.commands) {
    const looked = onlyReads(policy, command, line, shell);
    if (looked?.decision === "deny") return looked;
    if (looked) continue;
    if (!isAllowed(policy, rules, command, line, shell)) return undefined;
    const covering = rules.find((each) => spells(each, command.words));
    if (covering) rule = `allow ${ruleText(covering)}`; // a redirection of several commands together has no rule of its own, so the covering rule is reported
  }
  return { decision: "allow", rule, why: "", hint: "" };
}

/** Whether the rules allow a command; a read-only command behind a prefix needs no rule. */
function isAllowed(
  policy: Policy,
  rules: readonly Rule[],
  command: ShellCommand,
  line: Line,
  shell: ShellState,
): boolean {
  return isCovered(rules, command, (each) => onlyReads(policy, each, line, shell)?.decision === "allow");
}

/**
 * Allows read-only commands inside the workspace without a rule. Requires a working sandbox, because symbolic links can
 * lead out of the workspace.
 */
function onlyReads(
  policy: Policy,
  { words, sets }: ShellCommand,
  { moves }: Line,
  shell: ShellState,
): Verdict | undefined {
  const [first, ...args] = words;
  if (!shell.sandboxed || first?.text === undefined || !sets.every(isHarmless)) return undefined;
  if (words.some(({ text, glob, home }) => text === undefined || home || (glob && /^[-*?[]/.test(text))))
    return undefined;
  const paths = readOnlyPaths(first.text, args);
  if (paths === undefined || moves === "anywhere") return undefined;
  const places = paths.map((path) => placeOf(path, shell));
  if (places.includes(undefined) || (moves === "inside" && paths.some((path) => path.split("/").includes(".."))))
    return undefined;
  const ban = places
    .map((place) => banned(policy, READS, placed(place ?? "", false)))
    .find((found) => found !== undefined);
  // A command may read a file that it does not name, and a rule requires approval for some files.
  if (ban !== undefined || readAsks(policy, "bash", []) !== undefined) return ban;
  return { decision: "allow", rule: "only reads", why: "", hint: "" };
}

const READS = { tool: "read_file", does: "read", effect: "read" } as const;
const WRITES = { tool: "write_file", does: "write", effect: "write" } as const;

const STREAMS = new Set(["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin"]);

/**
 * Judges a redirection (`> file`). Redirections are judged like calls of the file tools, in every folder that the
 * command may be in.
 */
function judgeRedirect(policy: Policy, shell: ShellState, { writes, target }: ShellRedirect, line: Line): Verdict {
  const { text, glob, home } = target;
  if (text !== undefined && STREAMS.has(text)) return { decision: "allow", rule: "stream", why: "", hint: "" };
  const folders = text?.startsWith("/") ? [""] : line.folders;
  const upwards = line.moves !== "no" && text?.split("/").includes("..") && !text.startsWith("/");
  const [first, ...more] = text === undefined || glob || upwards ? [] : folders.map((folder) => `${folder}${text}`);
  if (home) return OUTSIDE[writes ? "write" : "read"];
  if (first === undefined) return unknownFile(policy, shell);
  const judged = (path: string): Verdict => judgeFile(policy, shell, path, writes);
  return strictest(judged(first), ...more.map(judged));
}

function judgeFile(policy: Policy, shell: ShellState, path: string, writes: boolean): Verdict {
  const place = placeOf(path, shell);
  if (place !== undefined)
    return judgeCall(policy, { ...(writes ? WRITES : READS), subjects: [placed(place, writes)] });
  return writes && shell.sandboxed && isScratch(path)
    ? { decision: "allow", rule: "scratch", why: "", hint: "" }
    : OUTSIDE[writes ? "write" : "read"];
}

const outsideVerdict = (does: string): Verdict => ({
  decision: "deny",
  rule: "outside",
  why: `the command ${does} a file outside of the working folder`,
  hint: "Use a path inside the working folder.",
});
const OUTSIDE = { write: outsideVerdict("writes to"), read: outsideVerdict("reads") } as const;

/**
 * The verdict on a redirection to an unknown file. In a sandbox with everything allowed, only rules about files can
 * forbid it.
 */
function unknownFile(policy: Policy, { sandboxed }: ShellState): Verdict {
  if (policy.level === "bypass" && sandboxed && !limitsFiles(policy)) return byMode(policy.level, WRITES, undefined);
  return {
    decision: "ask",
    rule: "redirect",
    why: "the file that the command would use cannot be determined",
    hint: "Write the path relative to the working folder.",
  };
}

/** True for a path below `/tmp`, which is private in the sandbox. */
const isScratch = (path: string): boolean => path.startsWith("/tmp/") && !path.split("/").includes("..");

/**
 * How rules name a file: its path below one of the writable folders; `undefined` when the file is outside of all of
 * them.
 */
function placeOf(path: string, { roots, place = "" }: Pick<ShellState, "roots" | "place">): string | undefined {
  const root = path.startsWith("/") ? roots.find((each) => path === each || path.startsWith(`${each}/`)) : "";
  if (root === undefined || path.startsWith("~")) return undefined;
  const steps: string[] = [];
  for (const step of path.slice(root.length).split("/")) {
    if (step === "" || step === ".") continue;
    if (step !== "..") steps.push(step);
    else if (steps.pop() === undefined) return undefined;
  }
  if (root !== "" && root !== roots[0]) return [root, ...steps].join("/");
  return [...(place === "" ? [] : [place]), ...steps].join("/");
}

/**
 * The verdict after the sandbox is considered: without a tested sandbox every command needs approval, unless the user
 * disabled the sandbox.
 */
function withSandbox({ sandboxed, waived }: ShellState, verdict: Verdict): Verdict {
  if (sandboxed || waived || verdict.decision === "deny") return verdict;
  return {
    decision: "ask",
    rule: "sandbox",
    why: "no sandbox works here, so the command would run with your full permissions",
    hint: "Install bubblewrap, or disable the sandbox with --sandbox off.",
  };
}

/** The verdict of the permission mode, with a suggested rule for the first command that no rule allows. */
function suggesting(policy: Policy, { tool, shell = NOWHERE }: CallToJudge, line: Line, base: Verdict): Verdict {
  if (base.decision !== "ask") return base;
  const rules = rulesFor(policy.allow, tool);
  const needsRule = (command: ShellCommand): boolean =>
    onlyReads(policy, command, line, shell) === undefined && !isAllowed(policy, rules, command, line, shell);
  const words = line.problem === undefined ? line.commands.find(needsRule)?.words : undefined;
  const literal = words?.every(({ text, glob }) => text !== undefined && !glob && /^[^\s'"()*]+$/.test(text));
  const text = words?.map((word) => word.text ?? "...").join(" ") ?? "";
  const rule = literal ? `${tool}(${text})` : undefined;
  const { allow: _any, ...rest } = base;
  return {
    ...rest,
    why: line.commands.length > 1 && text !== "" ? `${base.why}, in its part \`${text}\`` : base.why,
    hint: `Allow the command with --allow '${rule ?? tool}'.`,
    ...defined({ allow: rule }),
  };
}
