import { generateKeyPairSync, randomInt } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { McpServer } from "../../../src/core/vocabulary/mcp-server.ts";
import { type Agent, type CrewOptions, createCrew, defineAgent, type Event } from "../../../src/index.ts";
import { type Script, scripted } from "../../../src/models/scripted/scripted.ts";
import { createGuardedOpen } from "../../../src/runtime/network/guarded-request.ts";
import { createBearer } from "../../../src/tools/mcp/bearer.ts";
import { loadClient } from "../../../src/tools/mcp/client.ts";
import { type LoginSpec, logIn } from "../../../src/tools/mcp/login.ts";
import { loginState } from "../../../src/tools/mcp/login-note.ts";
import { type Logins, openLogins } from "../../../src/tools/mcp/logins.ts";
import { logOut } from "../../../src/tools/mcp/logout.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { webServer } from "../../support/web-server.ts";
import {
  json,
  KNOWN,
  type OAuthQuirks,
  oauthServer,
  type ProtectedQuirks,
  protectedServer,
} from "../../support/oauth-server.ts";

const WHOAMI: Script = { calls: [{ name: "mcp__docs__whoami", input: {} }] };
/** A browser whose owner agrees to everything. */
const browse = async (url: string): Promise<void> => void (await fetch(url));
const never = new AbortController().signal;

type Played = Readonly<{ events: Event[]; texts: string[]; warnings: Readonly<{ code: string; text: string }>[] }>;

/** An authorization server, a server that requires its tokens, and a user with a separate home folder. */
async function lab(oauthQuirks: OAuthQuirks = {}, serverQuirks: ProtectedQuirks = {}) {
  const oauth = await oauthServer(oauthQuirks);
  const server = await protectedServer(oauth, serverQuirks);
  const home = tempFolder();
  const logins = openLogins({ home, learn: () => {} });
  const definition: McpServer = { url: server.address };
  const open = createGuardedOpen({ allowHosts: [oauth.host] });
  const common = { definition, variables: { SECRET: KNOWN.secret }, open, logins, signal: never };
  return {
    oauth,
    server,
    home,
    logins,
    definition,
    login: (more: Partial<LoginSpec> = {}) => logIn({ ...common, name: "docs", show: browse, ...more }),
    logout: () => logOut(common),
    grants: () => oauth.grants.map((form) => form.get("grant_type")),
    play: (script: readonly Script[], more: Options = {}) =>
      play(script, { home, mcpServers: { docs: definition }, network: { allowHosts: [oauth.host] }, ...more }),
  };
}

type Options = Omit<CrewOptions, "agents"> & { agent?: Partial<Agent> };

async function play(script: readonly Script[], { agent = {}, ...options }: Options): Promise<Played> {
  const crew = createCrew({
    cwd: tempFolder(),
    env: { PATH: process.env["PATH"] },
    discover: false,
    agents: [defineAgent({ name: "a", description: "a", instructions: "Work.", model: "m", ...agent })],
    models: { m: scripted(...script) },
    unattended: true,
    permissions: { allow: ["mcp__docs__*"] },
    ...options,
  });
  const run = crew.run({ mode: "single", agent: "a", task: "Go." });
  const events: Event[] = [];
  for await (const event of run) events.push(event);
  await run;
  return {
    events,
    texts: events.flatMap((event) => (event.type === "tool.ended" ? [event.text] : [])),
    warnings: events.flatMap((event) => (event.type === "warning" ? [{ code: event.code, text: event.text }] : [])),
  };
}

const needsLogin = {
  code: "NEEDS_LOGIN",
  text: 'The MCP server "docs" needs a login. Log in with `subcrew mcp login docs`.',
};
const state = async (logins: Logins, server: McpServer) =>
  loginState(await logins.look(server.url!), server, Date.now());

/** All files in a folder, as one text. */
const textIn = (folder: string, without: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes(without))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
    .join("\n");

describe("a run", () => {
  test("uses a person's login, and no token is shown", async () => {
    const { oauth, server, home, logins, definition, login, play } = await lab();
    expect(await login()).toBe(true);
    const [asked] = oauth.authorized;
    expect(Object.fromEntries(asked!)).toMatchObject({
      client_id: "client-1",
      code_challenge_method: "S256",
      resource: server.address,
      scope: "notes offline_access",
      redirect_uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/),
    });
    expect(oauth.registered).toMatchObject([{ client_name: "subcrew", token_endpoint_auth_method: "none" }]);
    expect(await state(logins, definition)).toBe("logged in");

    const { texts, events, warnings } = await play([WHOAMI, "done"]);

    expect([texts, warnings]).toEqual([["you with [redacted]"], []]);
    expect(oauth.given).toHaveLength(3);
    const [folder] = [join(home, "mcp-logins")];
    for (const secret of oauth.given) {
      expect(JSON.stringify(events)).not.toContain(secret);
      expect(textIn(home, "mcp-logins")).not.toContain(secret);
    }
    const files = readdirSync(folder);
    expect(files).toEqual([expect.stringMatching(/^token-[0-9a-f]{32}\.json$/)]);
    expect([folder, join(folder, files[0]!)].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600]);
  });

  test("without a login continues without the server, names the login command, and contacts no authorization server", async () => {
    const { oauth, logins, definition, play } = await lab();
    expect(await state(logins, definition)).toBe(undefined);
    const { warnings } = await play(["done"]);
    expect(warnings).toEqual([needsLogin]);
    expect(oauth.requests).toEqual([]);
    expect(await state(logins, definition)).toBe("needs login");
  });

  test("renews a token that is about to expire, and a token that is refused", async () => {
    const { oauth, login, grants, play } = await lab({ lasts: 1 });
    await login();
    oauth.quirks.lasts = 3600;
    expect((await play([WHOAMI, "done"])).texts).toEqual(["you with [redacted]"]);
    expect(grants()).toEqual(["authorization_code", "refresh_token"]);
    oauth.valid.clear();
    const { texts, warnings } = await play([WHOAMI, "done"]);
    expect([texts, warnings]).toEqual([["you with [redacted]"], []]);
    expect(grants()).toEqual(["authorization_code", "refresh_token", "refresh_token"]);
    expect(oauth.grants.at(-1)!.get("resource")).toBe(oauth.authorized[0]!.get("resource"));
  });

  test("renews a token once together with other runs: a refresh token that is used twice would end the login", async () => {
    const { oauth, login, grants, play } = await lab();
    await login();
    oauth.valid.clear();
    const played = await Promise.all([1, 2, 3, 4].map(() => play([WHOAMI, "done"])));
    expect(played.map(({ texts }) => texts)).toEqual(Array.from({ length: 4 }, () => ["you with [redacted]"]));
    expect(grants()).toEqual(["authorization_code", "refresh_token"]);
  });

  test("reports that a login was revoked, also in the middle of a run", async () => {
    const { oauth, logins, definition, login, play } = await lab();
    await login();
    await play(["done"]);
    oauth.valid.clear();
    oauth.refreshes.clear();
    const { texts, warnings } = await play([WHOAMI, "done"]);
    expect(texts).toEqual([`mcp__docs__whoami failed: The MCP server "docs" needs a login.`]);
    expect(warnings).toEqual([needsLogin]);
    expect(await state(logins, definition)).toBe("needs login");
    expect((await logins.look(definition.url!))?.login).toBe(undefined);
  });

  test("keeps a login whose renewal fails only temporarily", async () => {
    const { oauth, logins, definition, login, play } = await lab();
    await login();
    oauth.valid.clear();
    oauth.quirks.token = (sent, response) => response.writeHead(503).end(`broken, ${sent.toString()}`);
    const { warnings, events } = await play(["done"]);
    expect(warnings).toMatchObject([{ code: "MCP", text: expect.stringContaining("did not renew the login") }]);
    for (const secret of oauth.given) expect(JSON.stringify(events)).not.toContain(secret);
    expect(await state(logins, definition)).toBe("logged in");
    delete oauth.quirks.token;
    expect((await play([WHOAMI, "done"])).texts).toEqual(["you with [redacted]"]);
  });

  test("that needs another scope reports it, and the next login requests it", async () => {
    const { oauth, server, login, play } = await lab();
    await login();
    server.quirks.needs = "admin";
    const { warnings } = await play([WHOAMI, "done"]);
    expect(warnings).toEqual([needsLogin]);
    await login();
    expect(oauth.authorized.at(-1)!.get("scope")).toBe("notes admin offline_access");
  });

  test("sends the token only to its address: not to another server of the same name, not for a project's agent", async () => {
    const { oauth, server, logins, login, play } = await lab();
    await login();
    const other = await protectedServer(oauth);
    const path = `${server.url("/mcp")}?tenant=2`;
    for (const url of [other.address, path]) {
      const { warnings } = await play(["done"], { mcpServers: { docs: { url } } });
      expect(warnings).toEqual([needsLogin]);
    }
    const agent = { mcpServers: { docs: { url: server.address } }, source: { kind: "project" as const } };
    const network = { allowHosts: [server.host] };
    const { warnings } = await play(["done"], { agent, mcpServers: {}, network });
    expect(warnings).toMatchObject([{ code: "NEEDS_LOGIN", text: expect.stringContaining("your own settings") }]);
    const sent = [...other.requests, ...server.requests].map(({ headers }) => headers.authorization ?? "");
    expect(sent.filter((header) => header !== "")).toEqual([]);
    await login({ definition: { url: other.address } });
    for (const url of [server.address, other.address]) expect(await state(logins, { url })).toBe("logged in");
  });

  test("renews a token once for all requests that were refused with it, however late their answers arrive", async () => {
    const { oauth, server, definition, logins, login, grants } = await lab();
    await login();
    oauth.valid.clear();
    const open = createGuardedOpen({ allowHosts: [oauth.host] });
    const spec = { name: "docs", definition, variables: {}, users: true, open, logins, over: never };
    const { auth, watch } = createBearer(await loadClient(), spec);
    const ask = async (): Promise<Response> => {
      const headers = { authorization: `Bearer ${await auth.token()}` };
      return watch(fetch)(server.address, { method: "POST", headers });
    };
    const refused = [await ask(), await ask()];
    expect(refused.map(({ status }) => status)).toEqual([401, 401]);
    for (const response of refused)
      await auth.onUnauthorized!({ response, serverUrl: new URL(server.address), fetchFn: fetch });
    expect(grants()).toEqual(["authorization_code", "refresh_token"]);
    expect(oauth.valid).toContain(await auth.token());
  });

  test("does not send the token to another server on a redirect", async () => {
    const { oauth, server, login, play } = await lab();
    await login();
    const thief = await webServer({ "*": "{}" });
    server.quirks.sendsOn = thief.url("/");
    const { warnings } = await play(["done"], { network: { allowHosts: [oauth.host, thief.host] } });
    expect(warnings).toMatchObject([{ code: "MCP" }]);
    for (const secret of oauth.given) expect(JSON.stringify(thief.requests)).not.toContain(secret);
  });
});

describe("a login", () => {
  test("accepts only the answer to its own request, and only once", async () => {
    const { oauth, login } = await lab();
    const seen: number[] = [];
    const show = async (url: string): Promise<void> => {
      const back = new URL(url).searchParams.get("redirect_uri")!;
      for (const query of ["?code=mine&state=guessed", "?code=mine", "?error=access_denied&state="])
        seen.push((await fetch(`${back}${query}`)).status);
      const answer = (await fetch(url, { redirect: "manual" })).headers.get("location")!;
      seen.push(
        (await fetch(answer.replace("/callback", "/other"))).status,
        (await fetch(answer, { method: "POST" })).status,
      );
      const [first, second] = await Promise.all([fetch(answer), fetch(answer).catch(() => undefined)]);
      seen.push(first.status);
      expect([404, undefined]).toContain(second?.status);
    };
    expect(await login({ show })).toBe(true);
    expect(seen).toEqual([404, 404, 404, 404, 404, 200]);
    expect(oauth.grants).toHaveLength(1);
  });

  test("accepts the address that a person pastes, when the browser is on another machine", async () => {
    const { logins, definition, login } = await lab();
    let paste = (_: string): void => {};
    const show = async (url: string): Promise<void> => {
      const answer = (await fetch(url, { redirect: "manual" })).headers.get("location")!;
      for (const text of ["", "what?", answer.replace(/state=[^&]*/, "state=x"), ` ${answer}\n`]) paste(text);
    };
    const pasted: LoginSpec["pasted"] = (take) => {
      paste = take;
      return () => {};
    };
    expect(await login({ show, pasted })).toBe(true);
    expect(await state(logins, definition)).toBe("logged in");
  });

  test.for<[string, Partial<LoginSpec>, OAuthQuirks, RegExp]>([
    ["the person refuses", {}, { denies: true }, /the sign-in was refused: access_denied/],
    ["the browser does not return", { show: () => {}, patienceMs: 20 }, {}, /the sign-in was not completed within/],
    ["it is stopped", { show: () => {}, signal: AbortSignal.abort({ stop: "stopped with Ctrl-C" }) }, {}, /Ctrl-C/],
  ])("ends when %s, and stores nothing", async ([, spec, quirks, words]) => {
    const { oauth, logins, definition, login } = await lab(quirks);
    await expect(login(spec)).rejects.toMatchObject({ code: "LOGIN_FAILED", message: expect.stringMatching(words) });
    expect(await logins.look(definition.url!)).toBe(undefined);
    expect(oauth.grants).toEqual([]);
  });

  test.for<[string, OAuthQuirks, ProtectedQuirks, RegExp]>([
    [
      "a server that requires a login to another server",
      {},
      { metadata: { resource: "https://bank.example/" } },
      /bank\.example\/, which is not its own address/,
    ],
    [
      "an authorization server with another issuer name",
      { metadata: { issuer: "https://bank.example" } },
      {},
      /[Ii]ssuer/,
    ],
    [
      "an answer in the name of another authorization server",
      { comesBackWith: { iss: "https://evil.example" } },
      {},
      /did not come from the authorization server that was asked/,
    ],
    [
      "a program instead of a page as login address",
      { metadata: { authorization_endpoint: "file:///bin/sh" } },
      {},
      /is not https/,
    ],
    [
      "a login page without encryption",
      { metadata: { authorization_endpoint: "http://8.8.8.8/a" } },
      {},
      /is not https/,
    ],
    [
      "a token endpoint without encryption",
      { metadata: { token_endpoint: "http://tokens.example/token" } },
      {},
      /https/,
    ],
    [
      "registration without encryption",
      { metadata: { registration_endpoint: "http://register.example/" } },
      {},
      /does not use https/,
    ],
    [
      "an authorization server inside of the user's network",
      {},
      { metadata: { authorization_servers: ["https://10.0.0.7"] } },
      /only addresses of the public internet/,
    ],
    [
      "registration inside of the user's network",
      { metadata: { registration_endpoint: "https://169.254.169.254/register" } },
      {},
      /never contacted/,
    ],
  ])("refuses %s", async ([, oauthQuirks, serverQuirks, words]) => {
    const { oauth, logins, definition, login } = await lab(oauthQuirks, serverQuirks);
    const error = await login().catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ code: "LOGIN_FAILED", message: expect.stringMatching(words) });
    expect((error as Error).message).not.toContain("evil.example");
    expect((await logins.look(definition.url!))?.login).toBe(undefined);
    expect(oauth.grants).toEqual([]);
  });

  test("sends no code to another server on a redirect of the token endpoint, and repeats no secret", async () => {
    const { oauth, login } = await lab();
    const thief = await webServer({ "*": "{}" });
    const open = createGuardedOpen({ allowHosts: [oauth.host, thief.host] });
    for (const status of [302, 307]) {
      oauth.quirks.token = (_, response) => response.writeHead(status, { location: thief.url("/") }).end();
      await expect(login({ open })).rejects.toMatchObject({ code: "LOGIN_FAILED" });
    }
    expect(thief.requests).toEqual([]);
    oauth.quirks.token = (sent, response) =>
      json(response, 400, { error: "invalid_request", error_description: `what is ${sent.toString()}?` });
    const error = (await login().catch((thrown: Error) => thrown)) as Error;
    expect(error.message).toMatch(/what is .*grant_type=authorization_code/);
    expect(error.message).not.toContain(oauth.grants.at(-1)!.get("code"));
    expect(error.message).not.toContain(oauth.grants.at(-1)!.get("code_verifier"));
  });

  test("at another authorization server than before needs a logout first, which revokes the old login", async () => {
    const { oauth, server, logins, definition, login, logout, play } = await lab();
    const second = await oauthServer();
    const open = createGuardedOpen({ allowHosts: [oauth.host, second.host] });
    await login();
    server.quirks.metadata = { authorization_servers: [second.issuer] };
    await expect(login({ open })).rejects.toMatchObject({ hint: expect.stringContaining("subcrew mcp logout docs") });
    expect(second.authorized).toEqual([]);

    const tokens = (await logins.look(definition.url!))!.login!.tokens;
    expect(await logout()).toBe("revoked");
    expect(oauth.revoked).toEqual([tokens.refresh, tokens.access]);
    expect(await logout()).toBe("not logged in");
    expect((await play(["done"])).warnings).toEqual([needsLogin]);
    expect(await login({ open })).toBe(true);
    expect(second.grants).toHaveLength(1);
  });

  test("uses the client of the settings where programs cannot register themselves", async () => {
    const { oauth, home, login, play, definition } = await lab({ closed: true });
    await expect(login()).rejects.toMatchObject({
      message: 'The server "docs" does not let programs register themselves.',
      hint: expect.stringContaining("oauth: { clientId, callbackPort }"),
    });
    const client = { clientId: KNOWN.id, clientSecret: "$SECRET", scopes: ["mine"] };
    const callbackPort = await freePort((port) =>
      login({ definition: { ...definition, oauth: { ...client, callbackPort: port } } }),
    );
    expect(Object.fromEntries(oauth.authorized.at(-1)!)).toMatchObject({
      client_id: KNOWN.id,
      redirect_uri: `http://localhost:${callbackPort}/callback`,
      scope: "mine offline_access",
    });
    expect(textIn(home, "nothing")).not.toContain(KNOWN.secret);
    oauth.valid.clear();
    const env = { PATH: process.env["PATH"], SECRET: KNOWN.secret };
    const mcpServers = { docs: { ...definition, oauth: client } };
    expect((await play([WHOAMI, "done"], { env, mcpServers })).texts).toEqual(["you with [redacted]"]);
    const another = { docs: { ...definition, oauth: { ...client, clientId: "somebody-else" } } };
    expect((await play([WHOAMI, "done"], { env, mcpServers: another })).warnings).toEqual([needsLogin]);
  });

  test("is not created where the server requires none", async () => {
    const { server, oauth, login } = await lab();
    oauth.valid.add("");
    expect(await login()).toBe(false);
    const headers = { authorization: "Bearer mine" };
    await expect(login({ definition: { url: server.address, headers } })).rejects.toThrow(/authorization header/);
    await expect(login({ definition: { url: "http://docs.example/mcp" } })).rejects.toThrow(/not https/);
  });
});

/** The first port that `use` accepts; other programs of this machine may use some. */
async function freePort(use: (port: number) => Promise<unknown>): Promise<number> {
  for (let attempt = 0; ; attempt += 1) {
    const port = randomInt(20_000, 30_000);
    try {
      await use(port);
      return port;
    } catch (error) {
      if (attempt === 20 || !(error as Error).message.includes("cannot listen on")) throw error;
    }
  }
}

describe("a login as a program", () => {
  const program = { grant: "client-credentials", clientId: KNOWN.id, clientSecret: "$SECRET" } as const;
  const asProgram = (url: string, oauth: McpServer["oauth"] = program) => ({
    mcpServers: { docs: { url, oauth } },
    env: { PATH: process.env["PATH"], SECRET: KNOWN.secret },
  });

  test("needs no person: the run logs in, reuses the token in the next run, and shows no secret", async () => {
    const { oauth, server, grants, play: run } = await lab();
    const first = await run([WHOAMI, "done"], asProgram(server.address));
    expect(first.texts).toEqual([expect.stringContaining("you with")]);
    expect(grants()).toEqual(["client_credentials"]);
    expect(oauth.grants[0]?.get("resource")).toBe(server.address);
    await run([WHOAMI, "done"], asProgram(server.address));
    expect(grants()).toEqual(["client_credentials"]);
    const shown = JSON.stringify(first.events);
    for (const secret of [...oauth.given, KNOWN.secret]) expect(shown).not.toContain(secret);
  });

  test("gets a new token when the old one has expired or is refused", async () => {
    const { oauth, server, grants, play: run } = await lab({ lasts: 1 });
    await run([WHOAMI, "done"], asProgram(server.address));
    oauth.quirks.lasts = 3600;
    await run([WHOAMI, "done"], asProgram(server.address));
    expect(grants()).toEqual(["client_credentials", "client_credentials"]);
    oauth.valid.clear();
    const again = await run([WHOAMI, "done"], asProgram(server.address));
    expect(again.texts).toEqual([expect.stringContaining("you with")]);
    expect(grants()).toHaveLength(3);
  });

  test("signs with the key of a file instead of a secret", async () => {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const { oauth, server, home, play: run } = await lab({ publicKey });
    const file = join(home, "client.pem");
    writeFileSync(file, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
    const keyed = { grant: "client-credentials", clientId: KNOWN.id, privateKeyFile: file } as const;
    const { texts } = await run([WHOAMI, "done"], asProgram(server.address, keyed));
    expect(texts).toEqual([expect.stringContaining("you with")]);
    expect(oauth.grants[0]?.get("client_secret")).toBeNull();
  });

  test.for<[string, Partial<NonNullable<McpServer["oauth"]>>, string]>([
    ["a wrong secret", { clientSecret: "wrong-secret-of-mine" }, "invalid_client"],
    ["a key file that is missing", { privateKeyFile: "/nowhere/key.pem" }, "/nowhere/key.pem cannot be read"],
    ["a key file without a key", { privateKeyFile: import.meta.filename }, "not an unencrypted private key"],
  ])("that fails because of %s is reported with the reason", async ([, oauth, reason]) => {
    const { server, play: run } = await lab();
    const { warnings, texts } = await run(["done"], asProgram(server.address, { ...program, ...oauth }));
    expect(warnings).toMatchObject([{ code: "LOGIN_FAILED", text: expect.stringContaining(reason) }]);
    expect(JSON.stringify([warnings, texts])).not.toContain("wrong-secret-of-mine");
  });

  test("is never created at another authorization server than before", async () => {
    const { oauth, server, play: run } = await lab();
    await run([WHOAMI, "done"], asProgram(server.address));
    const other = await oauthServer();
    server.quirks.metadata = { authorization_servers: [other.issuer] };
    oauth.valid.clear();
    const { warnings } = await run([WHOAMI, "done"], {
      ...asProgram(server.address),
      network: { allowHosts: [oauth.host, other.host] },
    });
    expect(warnings).toMatchObject([
      { code: "LOGIN_FAILED", text: expect.stringContaining("now asks for a login at") },
    ]);
    expect(other.grants).toEqual([]);
  });

  test("opens no browser with `mcp login`", async () => {
    const { definition, login, grants } = await lab();
    const shown: string[] = [];
    const made = await login({
      definition: { ...definition, oauth: program },
      show: (url) => void shown.push(url),
    });
    expect([made, shown, grants()]).toEqual([true, [], ["client_credentials"]]);
  });
});
