import { expect, test } from "vitest";
import { placed } from "../rules/call-subject.ts";
import { parseRules } from "../rules/rule.ts";
import { toolClasses } from "../vocabulary/tool-class.ts";
import { judge } from "./judge.ts";
import { barred, lifts, readBans } from "./judge-call.ts";
import { permissions, policyOf, withPermissions } from "./permissions.ts";
import { permit } from "./permit.ts";
import {
  canGrantNetwork,
  createPolicy,
  intersect,
  mayUseNamespaces,
  mayUseNetwork,
  narrow,
  type Policy,
  policyModes,
  withDenied,
  withLease,
} from "./policy.ts";

/** The verdict of a policy on a call of each class, with and without an effect. */
function table(policy: Policy): Record<string, string> {
  const rows = toolClasses.flatMap((does) =>
    (["read", "write"] as const).map((effect) => [
      `${does}/${effect}`,
      judge(policy, { tool: "some_tool", does, effect, subjects: [] }).decision,
    ]),
  );
  return Object.fromEntries(rows) as Record<string, string>;
}

test("each permission mode decides each class of calls", () => {
  const rows = Object.fromEntries(policyModes.map((mode) => [mode, table(createPolicy(mode))]));
  const pick = (key: string): string[] => policyModes.map((mode) => rows[mode]![key]!);
  expect({
    modes: policyModes,
    read: pick("read/read"),
    none: pick("none/write"),
    memory: pick("memory/write"),
  }).toEqual({
    modes: ["plan", "default", "acceptEdits", "dontAsk", "bypass"],
    read: ["allow", "allow", "allow", "allow", "allow"],
    none: ["allow", "allow", "allow", "allow", "allow"],
    memory: ["deny", "allow", "allow", "allow", "allow"],
  });
  expect(pick("write/write")).toEqual(["deny", "ask", "allow", "deny", "allow"]);
  expect(pick("exec/write")).toEqual(["deny", "ask", "ask", "deny", "allow"]);
  expect(pick("net/read")).toEqual(["ask", "ask", "ask", "deny", "allow"]);
  expect(pick("net/write")).toEqual(["deny", "ask", "ask", "deny", "allow"]);
  expect(pick("spawn/write")).toEqual(["allow", "allow", "allow", "allow", "allow"]);
});

const order = ["deny", "ask", "allow"];
const isWithin = (inner: Policy, outer: Policy): boolean => {
  const [one, other] = [table(inner), table(outer)];
  return Object.keys(one).every((key) => order.indexOf(one[key]!) <= order.indexOf(other[key]!));
};

test("an agent file never adds permissions", () => {
  for (const mode of policyModes) {
    for (const permission of [...policyModes, "auto"] as const) {
      expect([
        mode,
        permission,
        isWithin(narrow(createPolicy(mode), { name: "a", permission }), createPolicy(mode)),
      ]).toEqual([mode, permission, true]);
      expect([
        mode,
        permission,
        isWithin(
          narrow(createPolicy(mode), { name: "a", permission }),
          createPolicy(permission === "auto" ? "acceptEdits" : permission),
        ),
      ]).toEqual([mode, permission, true]);
    }
  }
});

test("a tool list with patterns restricts a tool, unless it also lists the tool without a pattern; every level of agents counts", () => {
  const one = narrow(createPolicy("bypass"), { name: "a", tools: ["write_file(src/**)", "read_file"] });
  const two = narrow(one, { name: "b", tools: ["write_file(**/*.ts)", "bash(git *)", "bash"] });
  const write = (policy: Policy, path: string): string =>
    judge(policy, { tool: "write_file", does: "write", effect: "write", subjects: [placed(path, true)] }).decision;
  expect([
    write(one, "src/a.md"),
    write(one, "docs/a.ts"),
    write(two, "src/a.ts"),
    write(two, "src/a.md"),
    write(two, "docs/a.ts"),
  ]).toEqual(["allow", "deny", "allow", "deny", "deny"]);
  expect(two.bounds.map(({ of }) => of)).toEqual(["a", "b"]);
  const banned = narrow(createPolicy("bypass"), { name: "a", disallowedTools: ["write_file(src/**)"] });
  expect([write(banned, "src/a"), write(banned, "b")]).toEqual(["deny", "allow"]);
});

test("in an agent file the last matching rule counts, and no rule adds permissions", () => {
  const shell = { sandboxed: true, waived: false, roots: ["/w"] };
  const bash = (policy: Policy, command: string): string =>
    judge(policy, { tool: "bash", does: "exec", effect: "write", shell, subjects: [{ kind: "command", command }] })
      .decision;
  const rules = [
    [
      { tool: "bash", says: "ask" },
      { tool: "bash", pattern: "git *", says: "allow" },
      { tool: "bash", pattern: "git push *", says: "deny" },
    ],
  ] as const;
  const commands = [
    "npm test",
    "git status",
    "git status && npm test",
    "git push origin",
    "timeout 5 git status",
    "git status; timeout 5 git push",
    "git $(which x)",
  ];
  const under = (mode: "bypass" | "default" | "dontAsk"): string[] =>
    commands.map((command) => bash(narrow(createPolicy(mode), { name: "a", rules }), command));
  expect(under("bypass")).toEqual(["ask", "allow", "ask", "deny", "allow", "ask", "deny"]);
  expect(under("dontAsk").slice(0, 1)).toEqual(["deny"]);
  expect(under("default").slice(3, 4)).toEqual(["deny"]);

  const shut = narrow(createPolicy("bypass"), { name: "a", rules: [[{ tool: "bash", says: "deny" }]] });
  // the denied tool is not shown to the model
  expect(barred(shut, { tool: "bash", does: "exec", effect: "write" })).toBe("rules of a");
  expect(
    barred(narrow(createPolicy("bypass"), { name: "a", rules }), { tool: "bash", does: "exec", effect: "write" }),
  ).toBe(undefined);

  const write = (policy: Policy, path: string): string =>
    judge(policy, { tool: "write_file", does: "write", effect: "write", subjects: [placed(path, true)] }).decision;
  const docs = [
    [
      { tool: "write_file", says: "deny" },
      { tool: "write_file", pattern: "**/*.md", says: "allow" },
    ],
  ] as const;
  expect(write(narrow(createPolicy("bypass"), { name: "a", rules: docs }), "docs/a.md")).toBe("allow");
  expect(write(narrow(createPolicy("default"), { name: "a", rules: docs }), "docs/a.md")).toBe("ask");
  expect(write(narrow(createPolicy("bypass"), { name: "a", rules: docs }), "src/a.ts")).toBe("deny");
  expect(
    write(narrow(createPolicy("bypass"), { name: "a", rules: [...docs, [{ tool: "*", says: "ask" }]] }), "docs/a.md"),
  ).toBe("ask");
});

test("a resumed run has only permissions that are both recorded and allowed now", () => {
  const before = createPolicy("acceptEdits", {
    allow: parseRules(["bash(ls *)", "bash(cat *)"]),
    deny: parseRules(["bash(rm *)"]),
  });
  const now = createPolicy("bypass", {
    allow: parseRules(["bash(ls *)", "bash(make *)"]),
    ask: parseRules(["write_file(x)"]),
    deny: parseRules(["http_get"]),
  });
  const both = intersect(now, before);
  expect([both.level, both.asks, both.allow, both.ask.length, both.deny.length]).toEqual([
    "acceptEdits",
    true,
    parseRules(["bash(ls *)"]),
    1,
    2,
  ]);
  expect(intersect(createPolicy("plan"), createPolicy("dontAsk"))).toMatchObject({ level: "plan", asks: false });
});

test("a tool that can never be used is hidden; a tool that depends on its arguments is shown", () => {
  const plan = createPolicy("plan");
  expect(barred(plan, { tool: "bash", does: "exec", effect: "write" })).toBe("mode plan");
  expect(barred(plan, { tool: "read_file", does: "read", effect: "read" })).toBeUndefined();
  const rules = createPolicy("bypass", { deny: parseRules(["bash", "write_file(x)"]) });
  expect([
    barred(rules, { tool: "bash", does: "exec", effect: "write" }),
    barred(rules, { tool: "write_file", does: "write", effect: "write" }),
  ]).toEqual(["deny bash", undefined]);
  expect(permit({ name: "a", barred: { bash: "mode plan" } }, "bash")).toEqual({ allowed: false, rule: "mode plan" });
});

test("an agent that lists bash gets the tools for background commands, and each of them can also be listed alone", () => {
  const rights = { name: "a", tools: ["bash(git log *)", "read_file"] };
  expect(
    ["bash", "bash_output", "kill_shell", "read_file", "write_file"].map((tool) => permit(rights, tool).allowed),
  ).toEqual([true, true, true, true, false]);
  expect(permit({ name: "a", tools: ["read_file"] }, "kill_shell").allowed).toBe(false);
  expect(permit({ name: "a", tools: ["bash"], disallowedTools: ["bash"] }, "kill_shell").allowed).toBe(false);
});

test("commands get the network only through a rule, and never in plan mode", () => {
  expect(mayUseNetwork(policyOf({ network: true }, []))).toBe(true);
  expect(mayUseNetwork(policyOf({ allow: ["network"] }, []))).toBe(true);
  expect(
    [
      policyOf({}, []),
      policyOf({ mode: "bypass" }, []),
      policyOf({ allow: ["network"], deny: ["network"] }, []),
      policyOf({ network: true, mode: "plan" }, []),
    ].map(mayUseNetwork),
  ).toEqual([false, false, false, false]);
});

test("only a rule that names a protected path allows it", () => {
  const policy = (...allow: string[]): Policy => createPolicy("bypass", { allow: parseRules(allow) });
  expect([
    lifts(policy("write_file(.git/**)"), ".git"),
    lifts(policy("edit_file(.npmrc)"), ".npmrc"),
    lifts(policy("write_file(**/.git/**)"), "lib/.git"),
  ]).toEqual([true, true, true]);
  expect([
    lifts(policy("write_file(**)"), ".git"),
    lifts(policy("write_file"), ".git"),
    lifts(policy("write_file(.git/hooks/x)"), ".git"),
    lifts(policy("read_file(.git/**)"), ".git"),
  ]).toEqual([false, false, false, false]);
});

test("unreadable paths are computed in advance, and nothing is scanned when no rule forbids reading", () => {
  expect(readBans(createPolicy("default"))).toBeUndefined();
  const bans = readBans(
    createPolicy("default", { deny: parseRules(["read_file(secrets/**)", "grep_files(*.pem)", "write_file(x)"]) }),
  )!;
  expect(["secrets", "secrets/a/b", "Secrets/A", "sub/key.pem", "x", "secret"].map(bans)).toEqual([
    true,
    true,
    true,
    true,
    false,
    false,
  ]);
});

test("the last matching rule of an agent's file decides which paths are unreadable", () => {
  const rule = (says: "allow" | "deny", pattern: string) => ({ tool: "read_file", pattern, says });
  const bans = readBans({
    ...createPolicy("default"),
    bounds: [{ of: "a", key: "rules", rules: [rule("deny", "docs/**"), rule("allow", "docs/open/**")] }],
  })!;
  expect(["docs", "docs/a.md", "docs/open/a.md", "src/a.ts"].map(bans)).toEqual([true, true, false, false]);
});

test("settings and flags are combined; an unreadable rule is an error", () => {
  expect(
    withPermissions(
      { mode: "plan", allow: ["a"], deny: ["x"], sandbox: "off" },
      { mode: "default", allow: ["b", "a"] },
    ),
  ).toEqual({ mode: "default", allow: ["a", "b"], deny: ["x"], sandbox: "off" });
  expect(permissions.safeParse({ mode: "yolo" }).success).toBe(false);
  expect(permissions.safeParse({ sandbox: "of" }).success).toBe(false);
  expect(() => policyOf({ deny: ["nonsense"] }, [])).toThrow("does not name a known tool");
});

test("only the permission mode dontAsk never asks", () => {
  expect(policyModes.filter((mode) => !createPolicy(mode).asks)).toEqual(["dontAsk"]);
  expect(narrow(createPolicy("default"), { name: "a", permission: "auto" }).asks).toBe(true);
});

test("an agent with read-only commands has no network, whatever the user allows", () => {
  const open = createPolicy("default", { allow: parseRules(["network"]) });
  expect(mayUseNetwork(open)).toBe(true);
  expect(mayUseNetwork(narrow(open, { name: "a", sandbox: "read-only" }))).toBe(false);
});

test("a person may grant network access unless the mode or a rule forbids it", () => {
  expect(policyModes.filter((mode) => !canGrantNetwork(createPolicy(mode)))).toEqual(["plan", "dontAsk"]);
  expect(canGrantNetwork(createPolicy("default", { deny: parseRules(["network"]) }))).toBe(false);
});

test("user namespaces need a rule that allows them and none that denies them", () => {
  const rules = parseRules(["namespaces"]);
  expect(mayUseNamespaces(createPolicy("bypass"))).toBe(false);
  expect(mayUseNamespaces(createPolicy("bypass", { allow: parseRules(["bash"]) }))).toBe(false);
  expect(mayUseNamespaces(createPolicy("bypass", { allow: rules }))).toBe(true);
  expect(mayUseNamespaces(createPolicy("bypass", { allow: rules, deny: rules }))).toBe(false);
});

test("a deny rule with the pattern * denies the whole tool", () => {
  expect(narrow(createPolicy("default"), { name: "a", disallowedTools: ["bash(*)", "read_file(a)"] }).deny).toEqual([
    { tool: "bash" },
    { tool: "read_file", pattern: "a" },
  ]);
});

test("subagents inherit all earlier deny rules and the deny rules of their parent's file", () => {
  const policy = createPolicy("plan", { deny: parseRules(["web_search"]) });
  expect(withDenied(policy, ["bash", "read_file(a)"])).toEqual({
    ...policy,
    deny: [{ tool: "web_search" }, { tool: "bash" }],
  });
});

test("the intersection of two policies keeps the restrictions of both, and the lease of the first", () => {
  const bounded = (name: string) => narrow(createPolicy("default"), { name, tools: ["bash(git log *)"] });
  const lease = { of: "ours", globs: ["src/**"] };
  const both = intersect(withLease(bounded("ours"), lease), bounded("theirs"));
  expect(both.bounds.map(({ of }) => of)).toEqual(["ours", "theirs"]);
  expect(both.leases).toEqual([lease]);
});
