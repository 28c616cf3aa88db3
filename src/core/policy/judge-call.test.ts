import { expect, test } from "vitest";
import type { AgentRule } from "../rules/agent-rule.ts";
import { type LocatedSubject, placed } from "../rules/call-subject.ts";
import { parseRules } from "../rules/rule.ts";
import { type CallToJudge, isOpened, isShut, judgeCall, lifts, limitsFiles, readBanPatterns } from "./judge-call.ts";
import { createPolicy, narrow, type Policy, withLease } from "./policy.ts";
import type { Verdict } from "./verdict.ts";

const call = (tool: string, does: CallToJudge["does"], ...subjects: LocatedSubject[]): CallToJudge => ({
  tool,
  does,
  effect: does === "read" ? "read" : "write",
  subjects,
});
const write = (path: string): CallToJudge => call("write_file", "write", placed(path, true));
const read = (path: string): CallToJudge => call("read_file", "read", placed(path, false));
const free = (rules: Readonly<{ allow?: string[]; ask?: string[]; deny?: string[] }> = {}): Policy =>
  createPolicy("bypass", {
    allow: parseRules(rules.allow ?? []),
    ask: parseRules(rules.ask ?? []),
    deny: parseRules(rules.deny ?? []),
  });
const withFile = (policy: Policy, name: string, ...rules: AgentRule[]): Policy =>
  narrow(policy, { name, rules: [rules] });

test("when several agent files apply, a denial in any of them wins; a permission mode that denies wins over a file that asks", () => {
  const asking = withFile(free(), "outer", { tool: "write_file", says: "ask" });
  const denying = withFile(asking, "inner", { tool: "write_file", says: "deny" });
  expect(judgeCall(denying, write("a"))).toMatchObject({ decision: "deny", rule: "rules of inner" });
  const planning = withFile(createPolicy("plan"), "outer", { tool: "write_file", says: "ask" });
  expect(judgeCall(planning, write("a"))).toMatchObject({ decision: "deny", rule: "mode plan" });
});

test("an ask rule for some calls in an agent file also applies to a call whose argument is unknown", () => {
  const asking = withFile(free(), "a", { tool: "write_file", pattern: "src/**", says: "ask" });
  expect(judgeCall(asking, call("write_file", "write")).decision).toBe("ask");
  const allowing = withFile(
    free(),
    "a",
    { tool: "write_file", says: "deny" },
    { tool: "write_file", pattern: "src/**", says: "allow" },
  );
  expect(judgeCall(allowing, call("write_file", "write")).decision).toBe("deny");
});

test("the refusal of an agent file names the calls that the agent may make, if any", () => {
  const why = (...rules: AgentRule[]): string => judgeCall(withFile(free(), "a", ...rules), write("x")).why;
  const deny: AgentRule = { tool: "write_file", says: "deny" };
  expect(why(deny)).toBe("the agent file of a forbids the call");
  expect(why(deny, { tool: "write_file", pattern: "docs/**", says: "allow" })).toBe(
    "a may only use write_file(docs/**)",
  );
});

test("a deny rule for one tool that reads or changes files applies to all such tools, and to no other tool", () => {
  const policy = free({ deny: ["grep_files(private/**)", "edit_file(dist/**)"] });
  const said = (asked: CallToJudge): string => judgeCall(policy, asked).decision;
  expect([said(read("private/a")), said(write("dist/a"))]).toEqual(["deny", "deny"]);
  expect([said(read("dist/a")), said(write("private/a"))]).toEqual(["allow", "allow"]);
  expect(said(call("render", "exec", placed("dist/a", true), placed("private/a", false)))).toBe("allow");
});

test("a task with a lease may change only the leased files, and may read all files", () => {
  const policy = withLease(withLease(free(), { of: "lead", globs: ["docs/**"] }), { of: "worker", globs: ["**/*.md"] });
  const said = (asked: CallToJudge): Pick<Verdict, "decision" | "rule"> => judgeCall(policy, asked);
  expect(said(write("docs/a.md")).decision).toBe("allow");
  expect(said(write("docs/a.txt"))).toMatchObject({ decision: "deny", rule: "writes of worker" });
  expect(said(write("a.md"))).toMatchObject({ decision: "deny", rule: "writes of lead" });
  expect(said(read("src/a.ts")).decision).toBe("allow");
  expect(said(call("list_agents", "none", { kind: "name", name: "all" })).decision).toBe("allow");
});

test("the hint about a secret file names its real path; the hint about a protected file names the path of the call", () => {
  const linked = { kind: "path", places: ["link", ".env"], change: false } as const;
  const secret: LocatedSubject = { ...linked, closed: { kind: "secret", name: ".env" } };
  expect(judgeCall(free(), call("read_file", "read", secret)).hint).toBe(
    "Allow the call with --allow 'read_file(.env)'.",
  );
  const hook: LocatedSubject = { kind: "path", places: ["hook", ".git/hooks/pre-commit"], change: true };
  expect(judgeCall(free(), call("write_file", "write", hook)).hint).toBe(
    "Allow the call with --allow 'write_file(hook)'.",
  );
});

test("the hint for a call without a subject names the tool; the hint for an invalid URL repeats the URL", () => {
  const hint = (asked: CallToJudge): string => judgeCall(createPolicy("default"), asked).hint;
  expect(hint(call("bash", "exec"))).toBe("Allow the call with --allow 'bash'.");
  const url: LocatedSubject = { kind: "url", url: "no url" };
  expect(hint(call("web_fetch", "net", url))).toBe("Allow the call with --allow 'web_fetch(no url)'.");
});

test("a rule allows a secret path only if it names a secret place or exactly this path", () => {
  const opened = (rule: string, place: string): boolean =>
    isOpened(free({ allow: [rule] }), "read_file", { place, closed: { kind: "secret", name: place } });
  expect(opened("read_file(**/.env)", "app/.env")).toBe(true);
  expect(opened("read_file(keys/mine)", "keys/mine")).toBe(true);
  expect(opened("read_file(keys/*)", "keys/mine")).toBe(false);
  expect(opened("read_file", "keys/mine")).toBe(false);
});

test("access to files is limited by a lease, by the user's rules and by the rules of the agent file", () => {
  expect([free(), free({ deny: ["bash(rm *)"], ask: ["http_get"] })].map(limitsFiles)).toEqual([false, false]);
  const limited = [
    free({ deny: ["write_file(dist/**)"] }),
    free({ ask: ["write_file(dist/**)"] }),
    free({ deny: ["read_file(private/**)"] }),
    withFile(free(), "a", { tool: "edit_file", pattern: "dist/**", says: "deny" }),
    withLease(free(), { of: "a", globs: ["docs/**"] }),
  ];
  expect(limited.map(limitsFiles)).toEqual([true, true, true, true, true]);
});

test("a tool is unavailable when the last rule for all of its calls is a denial and no later rule allows some of them", () => {
  const all = (says: AgentRule["says"]): AgentRule => ({ tool: "bash", says });
  const some = (says: AgentRule["says"]): AgentRule => ({ tool: "bash", pattern: "git *", says });
  expect([[all("deny")], [all("allow"), all("deny")], [all("deny"), some("deny")]].map(isShut)).toEqual([
    true,
    true,
    true,
  ]);
  expect([[], [some("deny")], [all("allow"), some("deny")], [all("deny"), some("allow")]].map(isShut)).toEqual([
    false,
    false,
    false,
    false,
  ]);
});

test("a rule with an exact path lifts the protection of that path only", () => {
  const exact = { ...free(), allow: [{ tool: "write_file", pattern: ".git/**", exact: true } as const] };
  expect([lifts(exact, ".git"), lifts(free({ allow: ["write_file(.git/**)"] }), ".git")]).toEqual([false, true]);
});

test("patterns that forbid reading are listed once; rules without a pattern are not listed", () => {
  const policy = free({ deny: ["read_file(a)", "grep_files(a)", "glob(b)", "list_files", "write_file(c)"] });
  expect(readBanPatterns(policy)).toEqual(["a", "b"]);
});
