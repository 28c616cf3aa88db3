import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Place, place, script } from "../../command.ts";
import { type OAuthServer, oauthServer, protectedServer } from "../../../support/oauth-server.ts";

/** A browser that follows every redirect, with an owner who agrees to everything. */
const BROWSER = `const { appendFileSync } = require("node:fs");
fetch(process.argv[2]).then(() => appendFileSync(process.argv[3], process.argv[2] + "\\n"));`;

type Desk = Place & Readonly<{ oauth: OAuthServer; browser: Readonly<Record<string, string>>; opened(): string[] }>;

/** A person with a server in their settings, and a browser. */
async function desk(): Promise<Desk> {
  const oauth = await oauthServer();
  const server = await protectedServer(oauth);
  const there = place({
    "turns.json": script({ calls: [{ name: "mcp__docs__whoami", input: {} }] }, "done"),
    "browser.cjs": BROWSER,
    opened: "",
  });
  mkdirSync(there.env["SUBCREW_HOME"]!, { recursive: true });
  const settings = { mcpServers: { docs: { url: server.address } }, network: { allowHosts: [oauth.host] } };
  writeFileSync(join(there.env["SUBCREW_HOME"]!, "config.yaml"), JSON.stringify(settings));
  const [file, log] = [join(there.workspace, "browser.cjs"), join(there.workspace, "opened")];
  return {
    ...there,
    oauth,
    browser: { BROWSER: `${process.execPath} ${file} %s ${log}` },
    opened: () => readFileSync(log, "utf8").split("\n").filter(Boolean),
  };
}

const RUN = ["run", "general", "go", "--model", "scripted:turns.json", "--allow", "mcp__docs__*", "--json"];

test("login opens the browser, runs use the login in every process, and logout ends it", async () => {
  const { run, oauth, browser, opened, env } = await desk();
  const before = await run([...RUN, "--tools", "mcp__docs__*"], { env: browser });
  expect(before.stdout).toMatch(/"code":"NEEDS_LOGIN".*subcrew mcp login docs/);
  expect(JSON.parse((await run(["mcp", "list", "--json"])).stdout)).toMatchObject([{ login: "needs login" }]);
  const locked = await run(["mcp", "trust", "docs", "--yes"], { env: browser });
  expect([locked.code, locked.stderr]).toEqual([3, expect.stringContaining("subcrew mcp login docs")]);
  expect(opened()).toEqual([]);

  const login = await run(["mcp", "login", "docs"], { env: browser });
  expect([login.code, login.stdout]).toEqual([0, "Logged in to docs.\n"]);
  expect(login.stderr).toContain(`Log in at ${oauth.issuer}`);
  expect(login.stderr).toContain(`${oauth.issuer}/authorize?response_type=code&`);
  const folder = join(env["SUBCREW_HOME"]!, "mcp-logins");
  expect(readdirSync(folder).map((file) => statSync(join(folder, file)).mode & 0o777)).toEqual([0o600]);

  expect(oauth.authorized).toHaveLength(1);

  oauth.valid.clear(); // the next run has to renew the login, in a process that never saw the token
  const [listed, ran] = [
    await run(["mcp", "list"]),
    await run([...RUN, "--tools", "mcp__docs__*", "--runner", "process"]),
  ];
  expect(listed.stdout).toMatch(/docs\s+never used\s+logged in\s+http/);
  expect([ran.code, ran.stdout]).toEqual([0, expect.stringContaining('"text":"you with [redacted]"')]);
  expect(oauth.grants.map((form) => form.get("grant_type"))).toEqual(["authorization_code", "refresh_token"]);
  for (const { stdout, stderr } of [login, ran])
    for (const secret of oauth.given) expect(stdout + stderr).not.toContain(secret);

  const logout = await run(["mcp", "logout", "docs", "--json"]);
  expect([logout.code, JSON.parse(logout.stdout)]).toEqual([0, { name: "docs", login: "revoked" }]);
  expect(oauth.revoked).toHaveLength(2);
  for (const secret of oauth.given)
    expect(readFileSync(join(folder, readdirSync(folder)[0]!), "utf8")).not.toContain(secret);
});

test("login --no-browser only prints the address; Ctrl-C stops waiting, and nothing is stored", async () => {
  const { start, oauth, browser, opened, env } = await desk();
  const { child, ended, until } = start(["mcp", "login", "docs", "--no-browser", "--json"], { env: browser });
  await until("Waiting for the login");
  child.kill("SIGINT");
  const { code, stdout, stderr } = await ended;
  expect([code, stdout, opened()]).toEqual([130, "", []]);
  expect(stderr).toContain("The login was cancelled.");
  expect(oauth.grants).toEqual([]);
  expect(() => readdirSync(join(env["SUBCREW_HOME"]!, "mcp-logins"))).toThrow("ENOENT");
});

test.for<[string[], string]>([
  [["mcp", "login"], "No MCP server given"],
  [["mcp", "login", "dosc"], 'Unknown MCP server "dosc"'],
  [["mcp", "logout", "program"], 'Cannot log in to "program": the server is a local program'],
])("%j is refused with an explanation", async ([args, text]) => {
  const { run, env } = place();
  mkdirSync(env["SUBCREW_HOME"]!, { recursive: true });
  writeFileSync(join(env["SUBCREW_HOME"]!, "config.yaml"), '{"mcpServers":{"program":{"command":"true"}}}');
  const { stderr, code } = await run(args);
  expect([stderr.includes(text), code]).toEqual([true, 2]);
});
