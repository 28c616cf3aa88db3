import { describe, expect, test } from "vitest";
import type { AgentRule } from "../rules/agent-rule.ts";
import { type LocatedSubject, placed } from "../rules/call-subject.ts";
import { parseRules } from "../rules/rule.ts";
import { type CallToJudge, judgeCall, readAsks, readBans } from "./judge-call.ts";
import { createPolicy, narrow, type Policy } from "./policy.ts";

const bypass = (...ask: string[]): Policy => createPolicy("bypass", { ask: parseRules(ask) });
const withFile = (...rules: AgentRule[]): Policy => narrow(bypass(), { name: "a", rules: [rules] });
const call = (tool: string, does: CallToJudge["does"], subject: LocatedSubject): CallToJudge => ({
  tool,
  does,
  effect: does === "read" ? "read" : "write",
  subjects: [subject],
});
const env = placed(".env", false);
const grep = (place: string): CallToJudge => call("grep_files", "read", placed(place, false));

describe("a rule that asks before a file is read", () => {
  test.each<[string, CallToJudge, string]>([
    ["a search of the file", grep(".env"), "ask"],
    ["a search of another file", grep("a.txt"), "allow"],
    ["a move of the file", call("move_file", "write", placed(".env", true)), "ask"],
    ["a listing of its name", call("list_files", "read", env), "allow"],
    ["a glob of its name", call("glob", "read", env), "allow"],
    ["a tool that runs a program with the file", call("render", "exec", env), "allow"],
    ["a URL with the same text", call("http_get", "read", { kind: "url", url: ".env" }), "allow"],
    ["a search of the whole workspace", grep(""), "allow"],
  ])("decides about %s", (_what, asked, decision) => {
    expect(judgeCall(bypass("read_file(.env)"), asked).decision).toBe(decision);
  });

  test("applies to a search of the whole workspace if it covers every file", () => {
    expect(judgeCall(bypass("read_file(**)"), grep("")).decision).toBe("ask");
    expect(judgeCall(bypass("read_file(**)"), grep("a.txt")).decision).toBe("ask");
  });

  test.each(["read_file", "write_file(.env)", "bash(cat *)"])(
    "has no effect on a search if it is written as `ask: %s`",
    (rule) => {
      expect(judgeCall(bypass(rule), grep(".env")).decision).toBe("allow");
    },
  );
});

describe("a rule of an agent file about `read_file`", () => {
  const deny: AgentRule = { tool: "read_file", pattern: "docs/**", says: "deny" };
  const ask: AgentRule = { ...deny, says: "ask" };
  const move = call("move_file", "write", placed("docs/a", true));

  test.each<[string, AgentRule, CallToJudge, string]>([
    ["denies a search", deny, grep("docs/a"), "deny"],
    ["asks before a search", ask, grep("docs/a"), "ask"],
    ["does not deny a search elsewhere", deny, grep("src/a"), "allow"],
    ["denies no change, since a change does not show the file", deny, move, "allow"],
    ["asks before a move, after which the file has another name", ask, move, "ask"],
    ["denies no listing", deny, call("glob", "read", placed("docs/a", false)), "allow"],
    ["without a pattern is only about `read_file`", { tool: "read_file", says: "deny" }, grep("docs/a"), "allow"],
  ])("%s", (_what, rule, asked, decision) => {
    expect(judgeCall(withFile(rule), asked).decision).toBe(decision);
  });

  test("makes the files that it denies unreadable, and no others", () => {
    const bans = readBans(withFile(deny));
    expect([bans?.("docs/a"), bans?.("src/a")]).toEqual([true, false]);
    expect(readBans(withFile(ask))).toBeUndefined();
    expect(readBans(withFile({ tool: "read_file", says: "deny" }))).toBeUndefined();
    const reopened = readBans(withFile(deny, { tool: "read_file", says: "allow" }));
    expect(reopened?.("docs/a")).toBe(false);
  });
});

describe("files that a search leaves out because they need an approval", () => {
  const left = (policy: Policy, tool: string, ...named: LocatedSubject[]): readonly (boolean | undefined)[] => {
    const asks = readAsks(policy, tool, named);
    return [asks?.(".env"), asks?.("a.txt")];
  };
  const none = [undefined, undefined];

  test("are those that a rule of the user or of an agent file covers", () => {
    expect(left(bypass("read_file(.env)"), "grep_files", placed("", false))).toEqual([true, false]);
    const file = withFile({ tool: "read_file", pattern: ".env", says: "ask" });
    expect(left(file, "grep_files", placed("", false))).toEqual([true, false]);
    const denied = withFile({ tool: "read_file", pattern: ".env", says: "deny" });
    expect(left(denied, "grep_files", placed("", false))).toEqual(none);
    expect(left(bypass(), "grep_files", placed("", false))).toEqual(none);
  });

  test("are none if the call named a file that the rule covers, or if the tool shows only names", () => {
    expect(left(bypass("read_file(.env)"), "grep_files", env)).toEqual(none);
    expect(left(bypass("read_file(**)"), "grep_files", placed("", false))).toEqual(none);
    expect(left(bypass("read_file(**)"), "grep_files", { kind: "url", url: "a.txt" })).toEqual([true, true]);
    expect(left(bypass("read_file(.env)"), "list_files", placed("", false))).toEqual(none);
  });
});
