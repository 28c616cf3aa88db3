// Runs one client scenario of the protocol's conformance suite with the real command: logs in where a login is
// required, then lets an agent call every tool of the server. The suite starts this with the address of its server as the
// last argument.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const url = process.argv.at(-1);
const { SUBCREW_COMMAND: command, PROVIDER_URL: provider, MCP_CONFORMANCE_SCENARIO: scenario = "" } = process.env;
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const home = mkdtempSync(join(tmpdir(), "subcrew-conformance-"));
process.once("exit", () => rmSync(home, { recursive: true, force: true }));

/** The user has to allow authorization servers on this machine, so this looks them up as the user would. */
async function authorizationHosts() {
  if (!scenario.startsWith("auth/")) return [];
  const { origin, pathname } = new URL(url);
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const asked = await fetch(url, { method: "POST", headers, body });
  const named = /resource_metadata="([^"]+)"/.exec(asked.headers.get("www-authenticate") ?? "")?.[1];
  const known = "/.well-known/oauth-protected-resource";
  for (const at of [named, `${origin}${known}${pathname}`, `${origin}${known}`]) {
    if (at === undefined) continue;
    const answer = await fetch(at);
    if (!answer.ok) continue;
    const { authorization_servers: servers = [] } = await answer.json();
    return servers.map((each) => new URL(each).host);
  }
  return [];
}

const program = scenario.includes("client-credentials");
const oauth = {
  ...(program && { grant: "client-credentials" }),
  ...(context.client_id && { clientId: context.client_id }),
  ...(context.client_secret && { clientSecret: context.client_secret }),
  ...(context.private_key_pem && { privateKeyFile: join(home, "key.pem") }),
};
mkdirSync(join(home, ".subcrew"), { recursive: true });
if (context.private_key_pem) writeFileSync(join(home, "key.pem"), context.private_key_pem);
const config = {
  mcpServers: { suite: { url, ...(Object.keys(oauth).length > 0 && { oauth }) } },
  network: { allowHosts: await authorizationHosts() },
  permissions: { allow: ["mcp__suite__*"] },
};
writeFileSync(join(home, ".subcrew", "config.yaml"), JSON.stringify(config));
mkdirSync(join(home, ".subcrew", "agents"));
writeFileSync(
  join(home, ".subcrew", "agents", "caller.md"),
  "---\nname: caller\ndescription: Calls tools.\nmodel: anthropic/claude-sonnet-4-5\n---\nCall the tools.\n",
);
// A browser whose owner agrees to everything.
const browser = join(home, "browser.mjs");
writeFileSync(browser, "await fetch(process.argv.at(-1));\n");

function subcrew(...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...args], {
    cwd: home,
    encoding: "utf8",
    env: {
      PATH: process.env.PATH,
      HOME: home,
      ANTHROPIC_API_KEY: "not-a-key-at-all",
      ANTHROPIC_BASE_URL: provider,
      BROWSER: `${process.execPath} ${browser}`,
    },
  });
  process.stderr.write(`$ subcrew ${args.join(" ")}\n${stdout}${stderr}\n`);
  return { status, said: `${stdout}${stderr}` };
}

const logIn = () => subcrew("mcp", "login", "suite").status;
if (scenario.startsWith("auth/") && !program && logIn() !== 0) process.exit(1);
for (let tries = 0; ; tries += 1) {
  const { status, said } = subcrew("run", "caller", "Call every tool of the server.");
  // A server that demands more than the login gave gets one more login: a person would not repeat it for ever.
  const wants = said.includes("needs a login");
  if (!wants) process.exit(status ?? 1);
  if (tries === 1 || logIn() !== 0) process.exit(1);
}
