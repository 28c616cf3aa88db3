import { expect, test } from "vitest";
import { placed } from "./call-subject.ts";
import { parseRules, type Rule, ruleFits, ruleText } from "./rule.ts";

const rule = (text: string): Rule => parseRules([text])[0]!;
const url = (address: string) => ({ kind: "url", url: address }) as const;

test.each([
  ["bash(git log *)", { tool: "bash", pattern: "git log *" }],
  ["Bash(git log:*)", { tool: "bash", pattern: "git log:*" }],
  ["Write(src/**)", { tool: "write_file", pattern: "src/**" }],
  ["WebFetch(domain:example.com)", { tool: "http_get", pattern: "domain:example.com" }],
  ["run_shell_command", { tool: "bash" }],
  ["bash(*)", { tool: "bash" }],
  ["bash(=echo (a) *)", { tool: "bash", pattern: "echo (a) *", exact: true }],
  ["mcp__github__create_issue", { tool: "github__create_issue" }],
  ["network", { tool: "network" }],
])("the permission rule %s is parsed", (text, want) => {
  expect(rule(text)).toEqual(want);
});

test("a parsed permission rule is printed as it was written", () => {
  for (const text of ["bash(git log *)", "write_file", "bash(=a && b)"]) expect(ruleText(rule(text))).toBe(text);
});

test.each(["", "nonsense", "wrte_file(x)", "bash()", "(x)"])("the permission rule %j is an error", (text) => {
  expect(() => parseRules([text])).toThrow(expect.objectContaining({ name: "CrewError" }));
});

test("a permission rule can name tools that the library user passed", () => {
  expect(parseRules(["deploy(prod)"], ["deploy"])).toEqual([{ tool: "deploy", pattern: "prod" }]);
});

test.each<[string, string, boolean, boolean]>([
  // pattern, path, result as an allow rule, result as a deny rule
  ["src/**", "src/a.ts", true, true],
  ["src/**", "src", false, true],
  ["src/", "src/x/a.ts", true, true],
  ["src", "src/a.ts", false, true],
  ["src/*.ts", "src/x/a.ts", false, false],
  ["*.md", "docs/a.md", true, true],
  ["docs/**", "Docs/a.md", false, true],
  ["./a.txt", "a.txt", true, true],
  ["a.txt", "ab.txt", false, false],
  ["secrets/key", "secrets/key/inner", false, true],
  ["secrets/**", "sub/secrets/key", false, false],
  ["secrets", "sub/secrets/key", false, true],
  ["./a.txt", "sub/a.txt", false, false],
  ["/cache/**", "/cache/x", true, true],
  ["/cache/**", "/cache", false, true],
  ["/cache/**", "cache/x", false, false],
  ["cache/**", "/cache/x", false, false],
  ["*.pem", "/cache/x.pem", true, true],
  ["**/.env", "/cache/sub/.env", true, true],
])(
  "the rule %s and the subject %s: matches as an allow rule %s, as a deny rule %s",
  (pattern, path, permission, ban) => {
    const one = rule(`write_file(${pattern})`);
    expect([
      ruleFits(one, "write_file", placed(path, true), "permission"),
      ruleFits(one, "write_file", placed(path, true), "ban"),
    ]).toEqual([permission, ban]);
  },
);

test("for a file with several names, an allow rule must match all of them; a deny rule needs to match only one", () => {
  const one = rule("write_file(src/**)");
  const both = { kind: "path", places: ["src/link", "secrets/key"], change: true } as const;
  expect([ruleFits(one, "write_file", both, "permission"), ruleFits(one, "write_file", both, "ban")]).toEqual([
    false,
    true,
  ]);
});

test.each<[string, string, boolean]>([
  ["https://example.com/*", "https://example.com/a?b", true],
  ["https://example.com/*", "https://example.com.evil.org/", false],
  ["https://example.com/*", "https://example.com@evil.org/", false],
  ["https://example.com/*", "https://user:pass@example.com/", false],
  ["https://example.com/*", "http://example.com/", false],
  ["https://example.com/*", "https://example.com:8443/", false],
  ["https://example.com/*", "https://EXAMPLE.com./x", true],
  ["https://example.com/*", "https://sub.example.com/", false],
  ["https://*.example.com/*", "https://a.b.example.com/", true],
  ["https://*.example.com/*", "https://example.com/", false],
  ["https://*.example.com/*", "https://notexample.com/", false],
  ["https://example.com/api/*", "https://example.com/api/x", true],
  ["https://example.com/api/*", "https://example.com/other", false],
  ["https://example.com/api/*", "https://example.com/api/../admin", false],
  ["domain:example.com", "https://example.com/x", true],
  ["example.com", "http://example.com/x", true],
  ["http://127.0.0.1:8080/*", "http://127.0.0.1:8080/x", true],
  ["https://exa*mple.com/", "https://example.com/", false],
])("does the allow rule %s cover %s: %s", (pattern, address, want) => {
  expect(ruleFits(rule(`http_get(${pattern})`), "http_get", url(address), "permission")).toBe(want);
});

test.each<[string, string, boolean]>([
  ["https://example.com/*", "http://example.com:81/x", true],
  ["example.com", "https://sub.example.com/", true],
  ["example.com", "https://user@example.com/", true],
  ["https://example.com/admin", "https://example.com/%61dmin/x", true],
  ["https://example.com/admin", "https://example.com//ADMIN", true],
  ["example.com", "https://example.org/", false],
  ["example.com", "not a url", true],
])("does the deny rule %s cover %s: %s", (pattern, address, want) => {
  expect(ruleFits(rule(`http_get(${pattern})`), "http_get", url(address), "ban")).toBe(want);
});

test("if the subject of a call is unknown, a deny rule with a pattern applies, and an allow rule does not", () => {
  const one = rule("write_file(x)");
  expect([ruleFits(one, "write_file", undefined, "permission"), ruleFits(one, "write_file", undefined, "ban")]).toEqual(
    [false, true],
  );
});
