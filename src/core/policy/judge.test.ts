import { expect, test } from "vitest";
import { type LocatedSubject, placed } from "../rules/call-subject.ts";
import { parseRules, type Rule } from "../rules/rule.ts";
import { judge, rulesAlike, wayOut } from "./judge.ts";
import { type CallToJudge, outsideLease } from "./judge-call.ts";
import { createPolicy, type Policy } from "./policy.ts";

const write = (...paths: readonly string[]): CallToJudge => ({
  tool: "write_file",
  does: "write",
  effect: "write",
  subjects: paths.map((path) => placed(path, true)),
});
const bash = (command: string, ...others: readonly LocatedSubject[]): CallToJudge => ({
  tool: "bash",
  does: "exec",
  effect: "write",
  shell: { sandboxed: true, waived: false, roots: ["/w"] },
  subjects: [{ kind: "command", command }, ...others],
});
const fetching = (url: string): CallToJudge => ({
  tool: "web_fetch",
  does: "net",
  effect: "read",
  subjects: [{ kind: "url", url }],
});
const rules = (allow: readonly string[], ask: readonly string[] = [], deny: readonly string[] = []) => ({
  allow: parseRules(allow),
  ask: parseRules(ask),
  deny: parseRules(deny),
});

test("deny rules win over ask rules, ask rules over allow rules, and rules over the permission mode", () => {
  const call = write("src/a.ts");
  const said = (...given: Parameters<typeof rules>): unknown => {
    const { decision, rule } = judge(createPolicy("default", rules(...given)), call);
    return [decision, rule];
  };
  expect(said([])).toEqual(["ask", "mode default"]);
  expect(said(["write_file(src/**)"])).toEqual(["allow", "allow write_file(src/**)"]);
  expect(said(["write_file(src/**)"], ["write_file(src/*)"])).toEqual(["ask", "ask write_file(src/*)"]);
  expect(said(["write_file(src/**)"], ["write_file(src/*)"], ["write_file(src/a.ts)"])).toEqual([
    "deny",
    "deny write_file(src/a.ts)",
  ]);
});

test("when a call has several subjects, the strictest verdict counts, in any order", () => {
  const policy = createPolicy("default", rules(["write_file(src/**)"], [], ["write_file(dist/**)"]));
  expect(judge(policy, write("src/a", "src/b")).decision).toBe("allow");
  expect(judge(policy, write("src/a", "docs/b", "src/c")).decision).toBe("ask");
  expect(judge(policy, write("src/a", "docs/b", "dist/c")).decision).toBe("deny");
  expect(judge(policy, write("dist/c", "src/a")).decision).toBe("deny");
});

test("a call that runs a command and changes a file must pass the checks for both", () => {
  const policy = createPolicy("bypass", rules([], [], ["write_file(dist/**)", "bash(rm *)"]));
  const call = (command: string, path: string): string =>
    judge(policy, { ...bash(command, placed(path, true)), does: "write" }).decision;
  expect([call("ls", "src/a"), call("ls", "dist/a"), call("rm x", "src/a")]).toEqual(["allow", "deny", "deny"]);
});

test("a command line is allowed only when each of its commands is", () => {
  const policy = createPolicy("default", rules(["bash(make test)"], [], ["bash(git push *)"]));
  const said = (command: string): string => judge(policy, bash(command)).decision;
  expect([said("make test"), said("make test && npm test"), said("make test; git push origin")]).toEqual([
    "allow",
    "ask",
    "deny",
  ]);
});

test("a file after > is judged for every folder that an earlier cd can lead to", () => {
  const decide = (mode: Parameters<typeof createPolicy>[0], command: string, deny: readonly string[] = []): string =>
    judge(createPolicy(mode, rules(["bash(cd *)", "bash(echo *)"], [], deny)), bash(command)).decision;
  const inFolder = "cd sub && echo x > f";
  expect([decide("bypass", inFolder), decide("acceptEdits", inFolder), decide("default", inFolder)]).toEqual([
    "allow",
    "allow",
    "ask",
  ]);
  expect(decide("bypass", "cd .git && cd hooks && echo x > post-commit")).toBe("deny");
  expect(decide("bypass", "cd dist; echo x > f", ["write_file(dist/**)"])).toBe("deny");
  expect(decide("bypass", "(cd sub; true); echo x > f", ["write_file(f)"])).toBe("deny");
  const anywhere = ["cd sub && echo x > ../f", "cd $D && echo x > f", "pushd sub && echo x > f", "echo x > $F"];
  for (const command of [...anywhere, "CDPATH=dist; cd sub && echo x > f"]) {
    expect([command, decide("bypass", command), decide("acceptEdits", command)]).toEqual([command, "allow", "ask"]);
    expect([command, decide("bypass", command, ["write_file(dist/**)"])]).toEqual([command, "ask"]);
  }
});

test("in a mode that never asks, a call that needs approval is denied with that reason", () => {
  const policy = createPolicy("dontAsk", rules(["write_file(src/**)"], ["write_file(src/secret.ts)"]));
  expect(judge(policy, write("src/a.ts")).decision).toBe("allow");
  expect(judge(policy, write("docs/a.md"))).toMatchObject({
    decision: "deny",
    why: "the call changes files, and this permission mode does not ask the user",
  });
  expect(judge(policy, write("src/secret.ts"))).toMatchObject({
    decision: "deny",
    rule: "ask write_file(src/secret.ts)",
    why: "a rule requires approval, and this permission mode does not ask the user",
  });
});

test('the rules that the answer "always" creates allow only the same call, even if its argument looks like a pattern', () => {
  const agreed = (allow: readonly Rule[]): Policy => createPolicy("default", { allow, ask: [], deny: [] });
  const file = agreed(rulesAlike("write_file", write("src/*.ts").subjects));
  expect([judge(file, write("src/*.ts")).decision, judge(file, write("src/a.ts")).decision]).toEqual(["allow", "ask"]);
  const command = agreed(rulesAlike("bash", bash("npm test *").subjects));
  expect([judge(command, bash("npm test *")).decision, judge(command, bash("npm test x")).decision]).toEqual([
    "allow",
    "ask",
  ]);
  const page = agreed(rulesAlike("web_fetch", fetching("https://a.test/x").subjects));
  expect(["https://a.test/x", "https://a.test/y"].map((url) => judge(page, fetching(url)).decision)).toEqual([
    "allow",
    "ask",
  ]);
  const named = { kind: "name", name: "notes" } as const;
  expect(rulesAlike("remember", [named])).toMatchObject([{ tool: "remember", pattern: "notes" }]);
  expect(rulesAlike("remember", [])).toEqual([{ tool: "remember" }]);
});

test("the hint of a question names the narrowest rule that allows the call", () => {
  const hint = (call: CallToJudge): string | undefined => judge(createPolicy("default", rules([])), call).hint;
  expect(hint(write("src/a.ts"))).toContain("--allow 'write_file(src/a.ts)', or accept all edits");
  expect(hint(fetching("https://a.test/x"))).toContain("--allow 'web_fetch(https://a.test/x)'.");
  const note: CallToJudge = { ...write(), tool: "remember", subjects: [{ kind: "name", name: "notes" }] };
  expect(hint(note)).toContain("--allow 'remember(notes)'");
});

test("a file that is executed later can be changed only with a rule that names it, in every mode", () => {
  const said = (allow: readonly string[], path: string): string =>
    judge(createPolicy("bypass", rules(allow)), write(path)).decision;
  const hook = ".git/hooks/pre-commit";
  expect([said([], "src/a.ts"), said([], hook)]).toEqual(["allow", "deny"]);
  expect([said(["write_file"], hook), said(["write_file(**)"], hook)]).toEqual(["deny", "deny"]);
  expect(said(["write_file(.git/hooks/*)"], hook)).toBe("allow");
  expect(said(["write_file(.git/hooks/post-merge)"], hook)).toBe("deny");
});

test("an agent that may write nothing is told so, and an agent that may write some files is told which files", () => {
  expect(outsideLease({ of: "worker", globs: [] })).toMatchObject({
    decision: "deny",
    rule: "read-only sandbox of worker",
  });
  expect(outsideLease({ of: "worker", globs: ["docs/**"] })).toMatchObject({
    decision: "deny",
    rule: "writes of worker",
    why: "worker may only write docs/**",
  });
});

test("no rule opens the state folder, and only a rule that names a secret place opens that place", () => {
  const said = (allow: readonly string[], kind: "state" | "secret"): unknown => {
    const subject = { ...placed(".env", false), closed: { kind, name: ".env" } } as LocatedSubject;
    const call: CallToJudge = { tool: "read_file", does: "read", effect: "read", subjects: [subject] };
    const { decision, rule } = judge(createPolicy("bypass", rules(allow)), call);
    return [decision, rule];
  };
  const named = ["read_file(.env)"];
  expect([said([], "state"), said(named, "state")]).toEqual([
    ["deny", "state folder"],
    ["deny", "state folder"],
  ]);
  expect(said(["read_file(**)"], "secret")).toEqual(["deny", "secret .env"]);
  expect(said(named, "secret")).toEqual(["allow", "allow read_file(.env)"]);
});

test.each<[CallToJudge, string | undefined]>([
  [write("a.txt"), "--allow 'write_file(a.txt)'"],
  [write("a.txt", "b c.txt"), "--allow 'write_file(a.txt)' --allow 'write_file(b c.txt)'"],
  [write("a[1].txt"), "--allow 'write_file(=a[1].txt)'"],
  [write(".git/config"), "--allow 'write_file(.git/config)'"],
  [bash("npm test"), "--allow 'bash(npm test)'"],
  [
    bash("ls; npm test && npm publish | tee out"),
    "--allow 'bash(npm test)' --allow 'bash(npm publish)' --allow 'bash(tee out)'",
  ],
  [bash("echo hi > b.txt"), "--allow 'write_file(b.txt)'"],
  [bash("npm test > b.txt"), "--allow 'bash(npm test)' --allow 'write_file(b.txt)'"],
  [bash("FOO=1 make all"), "--allow 'bash(=FOO=1 make all)'"],
  [bash("npm run 'a b'"), "--allow 'bash(=npm run '\\''a b'\\'')'"],
  [bash("for i in 1 2; do rm $i; done"), "--allow 'bash(=for i in 1 2; do rm $i; done)'"],
  [
    { ...bash("make"), shell: { sandboxed: false, waived: false, roots: ["/w"] } },
    "--sandbox off --allow 'bash(make)'",
  ],
  [bash("cat > ../x"), undefined],
  [fetching("https://a.example/x?y=[1]"), "--allow 'web_fetch(=https://a.example/x?y=[1])'"],
])("the way out of a refusal is the narrowest rules that allow the call: %j", (call, flags) => {
  expect(wayOut(createPolicy("default"), call)).toBe(flags);
  expect(wayOut(createPolicy("dontAsk"), call)).toBe(flags);
});

test("no flag is named where none helps", () => {
  expect(wayOut(createPolicy("default", rules([], [], ["write_file"])), write("a.txt"))).toBeUndefined();
  expect(wayOut(createPolicy("plan"), write("a.txt"))).toBeUndefined();
});

test("the reason names the part of a compound command that asked", () => {
  expect(judge(createPolicy("default"), bash("ls && npm publish --tag next")).why).toBe(
    "the call runs a program, in its part `npm publish --tag next`",
  );
  expect(judge(createPolicy("default"), bash("npm publish")).why).toBe("the call runs a program");
});
