import { describe, expect, test } from "vitest";
import { couldUse, describeServer, mcpServers, mcpToolName, serverProblem, withVariables } from "./mcp-server.ts";

const hash = (): string => "abcdef0123456789";

test.each([
  ["github", "create_issue", "mcp__github__create_issue"],
  ["my_srv", "a__b", "mcp__my_srv__a__b"],
  ["srv", "näme with signs", "mcp__srv__n_me_with_signs_abcdef"],
  ["srv", "x".repeat(80), `mcp__srv__${"x".repeat(47)}_abcdef`],
])("the tool of server %s called %s is offered to a model as %s", (server, tool, name) => {
  expect(mcpToolName(server, tool, hash)).toBe(name);
  expect(name.length).toBeLessThanOrEqual(64);
});

test.each(["a__b", "_a", "a b", "", "mcp/x", "a_"])("%j is not a valid name of an MCP server", (name) => {
  expect(mcpServers.safeParse({ [name]: {} }).success).toBe(false);
});

test.each<[object, boolean]>([
  [{}, true],
  [{ tools: ["*"] }, true],
  [{ tools: ["mcp_*"] }, true],
  [{ tools: ["srv__*"] }, true],
  [{ tools: ["srv__one"] }, true],
  [{ tools: ["read_file"] }, false],
  [{ tools: [] }, false],
  [{ tools: ["srv2__*"] }, false],
  [{ disallowedTools: ["mcp_*"] }, false],
  [{ tools: ["srv__one"], disallowedTools: ["srv__*"] }, false],
  [{ disallowedTools: ["srv__one"] }, true],
])("may an agent with %j use a tool of a server: %s", (agent, may) => {
  expect(couldUse(agent, "srv")).toBe(may);
});

describe("the definition of a server", () => {
  test("is described in one line, without values", () => {
    expect(describeServer({ command: "npx", args: ["-y", "a b"], env: { TOKEN: "secret" } })).toBe(
      'npx -y "a b" (with TOKEN)',
    );
    expect(describeServer({ url: "https://x.example", headers: { authorization: "secret" } })).toBe(
      "https://x.example",
    );
  });

  test.each([
    [{}, "neither"],
    [{ command: "a", url: "https://b" }, "both"],
    [{ url: "file:///etc/passwd" }, "http"],
    [{ url: "javascript:alert(1)" }, "http"],
  ])("with %j is invalid", (server, word) => expect(serverProblem(server)).toContain(word));

  test.each([
    ["${A}/x", "1/x", []],
    ["${env:A}", "1", []],
    ["${B:-two}", "two", []],
    ["${B}", "", ["B"]],
    ["${toString}", "", ["toString"]],
    ["$A", "$A", []],
  ])("%s becomes %j", (written, text, missing) => {
    expect(withVariables(written, { A: "1" })).toEqual({ text, missing });
  });
});
