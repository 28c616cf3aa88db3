import { expect, test } from "vitest";
import { readMcpFile } from "./mcp-files.ts";

const url = "https://docs.example/mcp";
const oauthOf = (path: string, key: string, text: string): unknown => {
  const [read] = readMcpFile({ path, key }, text);
  return read && "server" in read ? read.server.oauth : read;
};

test.each<[string, string, string, object, object | undefined]>([
  [
    "Claude Code",
    ".mcp.json",
    "mcpServers",
    { oauth: { clientId: "me", callbackPort: 8080 } },
    { clientId: "me", callbackPort: 8080 },
  ],
  [
    "Gemini CLI",
    ".gemini/settings.json",
    "mcpServers",
    { oauth: { enabled: true, clientId: "me", clientSecret: "$SECRET", scopes: ["a", "b"] } },
    { clientId: "me", clientSecret: "${SECRET}", scopes: ["a", "b"] },
  ],
  [
    "Cursor",
    ".cursor/mcp.json",
    "mcpServers",
    { auth: { CLIENT_ID: "me", CLIENT_SECRET: "${env:SECRET}", scopes: ["a"] } },
    { clientId: "me", clientSecret: "${SECRET}", scopes: ["a"] },
  ],
  [
    "opencode",
    "opencode.json",
    "mcp",
    { oauth: { clientId: "me", scope: "a b", redirectUri: "http://localhost:3118/callback" } },
    { clientId: "me", scopes: ["a", "b"], callbackPort: 3118 },
  ],
  ["opencode, switched off", "opencode.json", "mcp", { oauth: false }, undefined],
  ["nobody", ".mcp.json", "mcpServers", {}, undefined],
])("the login settings of a server are read in the format of %s", (_, path, key, more, wanted) => {
  expect(oauthOf(path, key, JSON.stringify({ [key]: { docs: { url, ...more } } }))).toEqual(wanted);
});

test("the login settings of a server are read in the format of Codex", () => {
  const text = `[mcp_servers.docs]\nurl = "${url}"\nscopes = ["a"]\n[mcp_servers.docs.oauth]\nclient_id = "me"\n`;
  expect(oauthOf(".codex/config.toml", "mcp_servers", text)).toEqual({ clientId: "me", scopes: ["a"] });
});

test.each([
  ["a map", { a: "b" }, "the command has to be a text or a list of texts"],
  ["a list with a map", ["docs-server", { a: "b" }], "the command has to be a text or a list of texts"],
  ["nothing", null, "the server has neither a command nor a url"],
])(
  "a server whose command is %s is refused with the reason, and the servers beside it are read",
  (_, command, problem) => {
    const text = JSON.stringify({ mcpServers: { odd: { command }, docs: { url } } });
    expect(readMcpFile({ path: ".mcp.json", key: "mcpServers" }, text)).toEqual([
      { name: "odd", problem },
      { name: "docs", server: { url } },
    ]);
  },
);
