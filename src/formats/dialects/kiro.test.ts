import { expect, test } from "vitest";
import { agentRuleText } from "../../core/rules/agent-rule.ts";
import { READ_ONLY_TOOLS } from "../../core/vocabulary/tool-names.ts";
import { kiroDialect } from "./kiro.ts";

const read = (keys: object) => {
  const place = { file: "/x/a.json", relative: "a.json" };
  return kiroDialect.read(JSON.stringify({ name: "a", description: "d", prompt: "p", ...keys }), place);
};
const rulesOf = (keys: object): string[] => (read(keys).agents[0]?.agent.rules ?? []).flat().map(agentRuleText);

test.each<[what: string, keys: object, rules: readonly string[]]>([
  [
    "a tool that changes something and is not on the list needs approval",
    { tools: ["read", "write", "shell"], allowedTools: ["read", "write"] },
    ["ask bash"],
  ],
  ["without that list no approvals are set", { tools: ["read", "shell"] }, []],
  ["nothing needs approval", { tools: ["*"], allowedTools: ["@builtin"] }, []],
  [
    "paths",
    { tools: ["write"], toolsSettings: { write: { allowedPaths: ["docs/**"], deniedPaths: [".env"] } } },
    ["write_file", "edit_file"].flatMap((tool) => [`ask ${tool}`, `allow ${tool}(docs/**)`, `deny ${tool}(.env)`]),
  ],
  [
    "commands",
    {
      tools: ["shell"],
      toolsSettings: {
        shell: { allowedCommands: ["git status", "npm test.*"], deniedCommands: ["rm .*", "git push (a|b)"] },
      },
    },
    ["ask bash", "allow bash(git status)", "allow bash(npm test *)", "deny bash(rm *)", "deny bash(git push *)"],
  ],
  [
    "a command that cannot be expressed as a pattern allows nothing and denies too much",
    {
      tools: ["shell"],
      toolsSettings: { shell: { allowedCommands: ["ls", "(a|b)"], deniedCommands: ["(rm|mv) .*"] } },
    },
    ["ask bash", "allow bash(ls)", "deny bash"],
  ],
  [
    "paths of a tool that needs no approval only deny",
    {
      tools: ["write"],
      allowedTools: ["write"],
      toolsSettings: { write: { allowedPaths: ["a"], deniedPaths: ["b"] } },
    },
    ["deny write_file(b)", "deny edit_file(b)"],
  ],
  [
    "denied unless allowed",
    { tools: ["shell"], toolsSettings: { execute_bash: { denyByDefault: true, allowedCommands: ["ls"] } } },
    ["deny bash", "allow bash(ls)"],
  ],
  ["an unknown form needs approval", { tools: ["read"], permissions: { rules: [{}] } }, ["ask *"]],
])("approvals of a Kiro agent: %s", (_, keys, rules) => {
  expect(rulesOf(keys)).toEqual(rules);
});

test("read-only tools of a Kiro agent with every tool need no approval", () => {
  const rules = rulesOf({ tools: ["*"], allowedTools: [] });
  expect(rules[0]).toBe("ask *");
  expect(rules.slice(1)).toEqual(READ_ONLY_TOOLS.map((tool) => `allow ${tool}`));
});
