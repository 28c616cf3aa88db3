import { expect, test } from "vitest";
import type { AgentRule } from "../rules/agent-rule.ts";
import { parseRules } from "../rules/rule.ts";
import { judge } from "./judge.ts";
import type { ShellState } from "./judge-call.ts";
import { createPolicy, narrow, type Policy, type PolicyMode, withLease } from "./policy.ts";
import type { Verdict } from "./verdict.ts";

const sandboxed: ShellState = { sandboxed: true, waived: false, roots: ["/ws"] };
const waived: ShellState = { sandboxed: false, waived: true, roots: ["/ws"] };

type Rules = Readonly<{ allow?: string[]; ask?: string[]; deny?: string[]; mode?: PolicyMode }>;
const policyWith = ({ allow = [], ask = [], deny = [], mode = "default" }: Rules): Policy =>
  createPolicy(mode, { allow: parseRules(allow), ask: parseRules(ask), deny: parseRules(deny) });

const judged = (policy: Policy, command: string, shell: ShellState | undefined = waived): Verdict =>
  judge(policy, { tool: "bash", does: "exec", effect: "write", subjects: [{ kind: "command", command }], shell });
const decisions = (rules: Rules, commands: readonly string[], shell: ShellState = waived): string[] =>
  commands.map((command) => judged(policyWith(rules), command, shell).decision);

const withFile = (policy: Policy, name: string, ...rules: AgentRule[]): Policy =>
  narrow(policy, { name, rules: [rules] });

test("a line that mentions what an agent file denies asks, and only a person can answer", () => {
  const rules = [
    { tool: "bash", says: "ask" },
    { tool: "bash", pattern: "git *", says: "deny" },
    { tool: "bash", pattern: "make *", says: "allow" },
    { tool: "bash", pattern: "rm *", says: "deny" },
  ] as const;
  const policy = withFile(policyWith({ mode: "bypass" }), "a", ...rules);
  const said = (command: string): unknown[] => {
    const { decision, inPerson } = judged(policy, command);
    return [decision, inPerson];
  };
  expect(["rm x", "make rm", "make git", "make all"].map(said)).toEqual([
    ["deny", undefined],
    ["ask", true],
    ["allow", undefined],
    ["allow", undefined],
  ]);
});

test("the question about a mention names the words, and wins over the other reasons to ask", () => {
  const policy = policyWith({ deny: ["bash(git push *)"] });
  expect(judged(policy, "sh -c 'git push'")).toMatchObject({
    decision: "ask",
    rule: "deny bash(git push *)",
    why: "the line mentions `git push`, which a rule denies",
    inPerson: true,
  });
  expect(judged(policy, "echo git push > /etc/x").decision).toBe("deny");
  expect(judged(withLease(policy, { of: "worker", globs: ["a"] }), "echo git push").decision).toBe("deny");
});

test("when several agent files apply, a denial in any of them wins; a permission mode that denies wins over a file that asks", () => {
  const asking = withFile(policyWith({ mode: "bypass" }), "outer", { tool: "bash", says: "ask" });
  const denying = withFile(asking, "inner", { tool: "bash", pattern: "make *", says: "deny" });
  expect(judged(denying, "make all")).toMatchObject({ decision: "deny", rule: "rules of inner" });
  const planning = withFile(policyWith({ mode: "plan" }), "outer", { tool: "bash", says: "ask" });
  expect(judged(planning, "make all")).toMatchObject({ decision: "deny", rule: "mode plan" });
});

test("an agent file that allows some commands does not allow another command behind a wrapper program", () => {
  const rules: AgentRule[] = [
    { tool: "bash", says: "deny" },
    { tool: "bash", pattern: "git *", says: "allow" },
  ];
  const policy = withFile(policyWith({ mode: "bypass" }), "a", ...rules);
  expect(["timeout 5 git status", "timeout 5 rm x"].map((command) => judged(policy, command).decision)).toEqual([
    "allow",
    "deny",
  ]);
});

test("an ask rule applies to the command that it names, to lines that mention it and to lines that cannot be parsed", () => {
  const rules = { mode: "bypass", ask: ["bash(git push *)"] } as const;
  const said = (command: string): Pick<Verdict, "decision" | "rule"> => {
    const { decision, rule } = judged(policyWith({ ...rules, ask: [...rules.ask] }), command);
    return { decision, rule };
  };
  expect(said("git push origin")).toEqual({ decision: "ask", rule: "ask bash(git push *)" });
  expect(said("sh -c 'git -C x push'")).toEqual({ decision: "ask", rule: "ask bash(git push *)" });
  expect(said("$X")).toEqual({ decision: "ask", rule: "ask bash(git push *)" });
  expect(said("eval $X").decision).toBe("allow");
  expect(said("git status").decision).toBe("allow");
});

test("a deny rule for an exact text applies to this text only", () => {
  expect(decisions({ mode: "bypass", deny: ["bash(=make all)"] }, ["make all", "make all -k"])).toEqual([
    "deny",
    "allow",
  ]);
});

test("without a sandbox, a task with a lease runs no commands, and the refusal names the lease", () => {
  const policy = withLease(policyWith({ mode: "bypass" }), { of: "worker", globs: ["docs/**"] });
  expect(judged(policy, "make all", sandboxed).decision).toBe("allow");
  expect(judged(policy, "make all", waived)).toEqual({
    decision: "deny",
    rule: "writes of worker",
    why: "worker may only write docs/**, and no sandbox is available that restricts commands to these files",
    hint: "Add the file to the `writes` of worker.",
  });
});

test("a call that does not state how commands run is judged as if no sandbox existed", () => {
  const subjects = [{ kind: "command", command: "make all" }] as const;
  const call = { tool: "bash", does: "exec", effect: "write", subjects } as const;
  expect(judge(policyWith({ mode: "bypass" }), call)).toMatchObject({ decision: "ask", rule: "sandbox" });
});

test("a command is recognised behind up to ten programs that only run it, and thousands of them take no time", () => {
  const nice = (times: number): string => `${"nice ".repeat(times)}make`;
  const sudo = (times: number): string => `${"sudo ".repeat(times)}make`;
  const rules: Rules = { allow: ["bash(make *)", "bash(sudo *)"] };
  expect(decisions(rules, [nice(10), nice(11), nice(10_000), sudo(10_000)])).toEqual(["allow", "ask", "ask", "ask"]);
});

test("the working folder is tracked through up to four cd commands", () => {
  const rules: Rules = { mode: "acceptEdits", allow: ["bash(cd *)", "bash(echo *)"] };
  const after = (...folders: string[]): string => `${folders.map((each) => `cd ${each}; `).join("")}echo x > f`;
  expect(decisions(rules, [after("a", "b", "c", "d"), after("a", "b", "c", "d", "e")])).toEqual(["allow", "ask"]);
});

test("after a cd that fails, or that applies only inside of parentheses, the previous folder still counts", () => {
  const rules: Rules = { mode: "bypass", deny: ["write_file(top/f)"] };
  expect(decisions(rules, ["cd top; (cd sub); echo x > f", "cd other; (cd sub); echo x > f"], sandboxed)).toEqual([
    "deny",
    "allow",
  ]);
});

test("a command line without a command is not allowed automatically; a variable that only changes the display needs no rule", () => {
  expect(decisions({ allow: ["bash(make *)"] }, ["# nothing", "sh -c ''", "LANG=C; make all"])).toEqual([
    "ask",
    "ask",
    "allow",
  ]);
});

test("a builtin that would evaluate its argument is not read-only", () => {
  expect(decisions({}, ["printf %s x", "printf %s 'a[$(x)]'"], sandboxed)).toEqual(["allow", "ask"]);
});

test("a rule about any tool that reads files applies to commands that read them", () => {
  const rules: Rules = { deny: ["grep_files(private/**)", "write_file(dist/**)"] };
  expect(decisions(rules, ["cat private/a", "cat dist/a"], sandboxed)).toEqual(["deny", "allow"]);
});

test("a refused redirection says whether the command would read or write the file", () => {
  const policy = policyWith({ mode: "bypass" });
  const why = (command: string): string => judged(policy, command, sandboxed).why;
  for (const file of ["~/x", "/etc/x"]) {
    expect(why(`echo x > ${file}`)).toBe("the command writes to a file outside of the working folder");
    expect(why(`sort < ${file}`)).toBe("the command reads a file outside of the working folder");
  }
});

test("the verdict names the rule of the last command that a rule allows", () => {
  const policy = policyWith({ mode: "acceptEdits", allow: ["bash(make *)", "bash(npm *)"] });
  expect(["make a", "npm a; make b", "(npm a) > f", "LANG=C"].map((command) => judged(policy, command).rule)).toEqual([
    "allow bash(make *)",
    "allow bash(make *)",
    "allow bash(npm *)",
    "only reads",
  ]);
});

test.each([
  ["make all", "bash(make all)"],
  ["LANG=C; make all", "bash(make all)"],
  ["npm test && make all", "bash(make all)"],
  ["ls src; make all", "bash(make all)"],
  ["make 'a b'", "bash"],
  ["make $X", "bash"],
  ["make a?", "bash"],
  ["eval $X", "bash"],
])("the hint for %s names the first command that no rule allows: %s", (command, rule) => {
  const policy = policyWith({ allow: ["bash(npm *)"] });
  expect(judged(policy, command, sandboxed)).toMatchObject({
    decision: "ask",
    hint: `Allow the command with --allow '${rule}'.`,
  });
});

test("an allowed command has no hint", () => {
  expect(judged(policyWith({ mode: "bypass" }), "make all")).toEqual({
    decision: "allow",
    rule: "mode bypass",
    why: "",
    hint: "",
  });
});
