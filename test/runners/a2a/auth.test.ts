import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CrewOptions } from "../../../src/index.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { type WebServer, webServer } from "../../support/web-server.ts";
import { crewFor, listen, PATH, remoteAgent } from "../../a2a/lab.ts";
import { type SdkServer, sdkServer } from "../../a2a/sdk-server.ts";

const SECRET = "s3cret-of-the-remote-agent";

/** An agent that answers only requests that this function accepts. */
const guarded = (accepts: (request: IncomingMessage) => boolean, card: object = {}): Promise<SdkServer> =>
  sdkServer(({ text }, say) => say.message(text), {
    card,
    guard: (request, response) => {
      if (accepts(request)) return false;
      response.writeHead(401).end(`who are you? not ${request.headers.authorization?.split(" ").at(-1)}`);
      return true;
    },
  });

const header = (name: string, value: string) => (request: IncomingMessage) => request.headers[name] === value;
const basic = `Basic ${Buffer.from(`me:${SECRET}`).toString("base64")}`;

test.each([
  ["an API key in a header", { type: "apiKey", key: SECRET }, header("x-api-key", SECRET)],
  ["an API key under another name", { type: "apiKey", name: "X-Agent", key: "$REMOTE" }, header("x-agent", SECRET)],
  [
    "an API key in the address",
    { type: "apiKey", in: "query", name: "k", key: "$REMOTE" },
    ({ url = "" }: IncomingMessage) => url.includes(`k=${SECRET}`),
  ],
  [
    "an API key in a cookie",
    { type: "apiKey", in: "cookie", name: "k", key: "$REMOTE" },
    header("cookie", `k=${SECRET}`),
  ],
  [
    "a token in a variable",
    { type: "http", scheme: "Bearer", token: "${REMOTE}" },
    header("authorization", `Bearer ${SECRET}`),
  ],
  [
    "a token in subcrew's short form",
    { type: "bearer", token: "$REMOTE" },
    header("authorization", `Bearer ${SECRET}`),
  ],
  [
    "a user name and a password",
    { type: "http", scheme: "Basic", username: "me", password: "$REMOTE" },
    header("authorization", basic),
  ],
  [
    "any other scheme",
    { type: "http", scheme: "Digest", value: "$REMOTE" },
    header("authorization", `Digest ${SECRET}`),
  ],
  [
    "the output of a command",
    { type: "bearer", token: `!echo noise >&2; printf %s ${SECRET}` },
    header("authorization", `Bearer ${SECRET}`),
  ],
] as const)("a task for a remote agent signs in with %s, and the secret is shown nowhere", async (_, auth, accepts) => {
  const server = await guarded(accepts);
  const crew = crewFor([server.host], {
    agents: [remoteAgent("it", { cardUrl: server.cardUrl, auth })],
    env: { PATH, REMOTE: SECRET },
  });

  const run = crew.run({ mode: "single", agent: "it", task: "hello" });
  const events = await listen(run);

  expect(run.state.outcome).toMatchObject({ status: "ok", output: "hello" });
  expect(JSON.stringify(events)).not.toContain(SECRET);
  expect(textIn((await crew.kept.look(run.id)).place)).not.toContain(SECRET);
});

test("a refused secret is not in the message, even when the server repeats it", async () => {
  const server = await guarded(() => false);
  const crew = crewFor([server.host], {
    agents: [remoteAgent("it", { cardUrl: server.cardUrl, auth: { type: "bearer", token: SECRET } })],
  });

  const run = crew.run({ mode: "single", agent: "it", task: "hello" });
  const events = await listen(run);

  expect(run.state.outcome).toMatchObject({
    status: "failed",
    fault: { code: "REMOTE_AUTH", message: expect.stringContaining("who are you?") },
  });
  expect(JSON.stringify(events)).not.toContain(SECRET);
});

test.each([
  ["a variable that is not set", { type: "bearer", token: "$NOT_THERE" }, "the variable NOT_THERE is not set"],
  ["a command that fails", { type: "bearer", token: "!exit 3" }, "ended with 3"],
  ["a command that prints nothing", { type: "bearer", token: "!true" }, "printed more or less than one line"],
  ["an unknown method", { type: "magic" }, "`type` has to be one of apiKey, http, bearer, basic, oauth"],
  ["Google's own method", { type: "google-credentials" }, "not supported"],
  ["a missing field", { type: "apiKey" }, "key:"],
])("%s is reported", async (_, auth, words) => {
  const server = await guarded(() => false);
  const crew = crewFor([server.host], { agents: [remoteAgent("it", { cardUrl: server.cardUrl, auth })] });
  const { nodes } = await crew.run({ mode: "single", agent: "it", task: "hello" });
  expect(nodes["it"]).toMatchObject({
    status: "failed",
    fault: { code: "REMOTE_AUTH", message: expect.stringContaining(words), hint: expect.any(String) },
  });
});

test("credentials for a remote agent are not sent on a redirect to another origin", async () => {
  const thief = await webServer({ "*": "{}" });
  const server = await webServer({
    "/card.json": (_, response) => response.writeHead(307, { location: thief.url("/") }).end(),
  });
  const crew = crewFor([server.host, thief.host], {
    agents: [remoteAgent("it", { cardUrl: server.url("/card.json"), auth: { type: "apiKey", key: SECRET } })],
  });

  await crew.run({ mode: "single", agent: "it", task: "hello" });

  expect(JSON.stringify([thief.requests, server.requests])).not.toContain(SECRET);
});

/** A small authorisation server: a token endpoint, and a page that redirects the browser with a code. */
async function oauthServer(): Promise<WebServer & { valid: Set<string>; grants: URLSearchParams[] }> {
  const valid = new Set<string>();
  const grants: URLSearchParams[] = [];
  const challenges = new Map<string, string>();
  const json = (response: ServerResponse, status: number, value: object): void =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
  const server = await webServer({
    "/authorize": ({ url = "" }, response) => {
      const params = new URL(url, "http://x").searchParams;
      challenges.set("code-1", params.get("code_challenge") ?? "");
      const back = new URL(params.get("redirect_uri") ?? "");
      back.searchParams.set("code", "code-1");
      back.searchParams.set("state", params.get("state") ?? "");
      response.writeHead(302, { location: back.href }).end();
    },
    "/token": ({ headers }, response) => {
      const form = new URLSearchParams(server.requests.at(-1)!.body);
      grants.push(form);
      const grant = form.get("grant_type");
      if (
        grant === "client_credentials" &&
        headers.authorization !== `Basic ${Buffer.from(`robot:${SECRET}`).toString("base64")}`
      )
        return json(response, 401, { error: "invalid_client" });
      const verifier = createHash("sha256")
        .update(form.get("code_verifier") ?? "")
        .digest("base64url");
      if (grant === "authorization_code" && (form.get("code") !== "code-1" || challenges.get("code-1") !== verifier))
        return json(response, 400, { error: "invalid_grant" });
      const token = `token-${grant}-${grants.length}-of-some-length`;
      valid.add(token);
      json(response, 200, {
        access_token: token,
        token_type: "Bearer",
        expires_in: 3600,
        ...(grant !== "client_credentials" && { refresh_token: "refresh-1-of-some-length" }),
      });
    },
  });
  return { ...server, valid, grants };
}

const bearerOf = (request: IncomingMessage): string => (request.headers.authorization ?? "").replace("Bearer ", "");

/** A remote agent that accepts tokens of its own authorisation server, and a crew that knows both. */
async function behindOauth(auth: (oauth: WebServer) => Readonly<Record<string, unknown>>) {
  const oauth = await oauthServer();
  const { host, cardUrl } = await guarded((request) => oauth.valid.has(bearerOf(request)));
  const agents = [
    remoteAgent("it", { cardUrl, auth: { type: "oauth", token_url: oauth.url("/token"), ...auth(oauth) } }),
  ];
  const crew = (options: CrewOptions = {}) => crewFor([host, oauth.host], { agents, ...options });
  const ask = (task: string, options: CrewOptions = {}) => crew(options).run({ mode: "single", agent: "it", task });
  return { oauth, crew, ask };
}

/** Signs in as a person. */
const byPerson = (oauth: WebServer) => ({ client_id: "app", authorization_url: oauth.url("/authorize") });

test("OAuth as a program: one token for many tasks, and a new token when it is refused", async () => {
  const robot = { client_id: "robot", client_secret: "$REMOTE", scopes: ["a", "b"] };
  const { oauth, crew: crewWith } = await behindOauth(() => robot);
  const crew = crewWith({ env: { PATH, REMOTE: SECRET } });

  const together = await crew.run({ mode: "parallel", tasks: ["a", "b", "c"].map((task) => ({ agent: "it", task })) });
  expect(together.status).toBe("ok");
  expect(oauth.grants.map((form) => [form.get("grant_type"), form.get("scope")])).toEqual([
    ["client_credentials", "a b"],
  ]);

  oauth.valid.clear();
  expect(await crew.run({ mode: "single", agent: "it", task: "again" })).toMatchObject({
    status: "ok",
    output: "again",
  });
  expect(oauth.grants).toHaveLength(2);
});

test("fields that the file leaves out are taken from the card: the token address, and the name of a key", async () => {
  const oauth = await oauthServer();
  const flow = { tokenUrl: oauth.url("/token"), refreshUrl: "", scopes: { read: "reads" } };
  const scheme = {
    description: "",
    oauth2MetadataUrl: "",
    flows: { flow: { $case: "clientCredentials", value: flow } },
  };
  const byToken = await guarded((request) => request.method === "GET" || oauth.valid.has(bearerOf(request)), {
    securitySchemes: { o: { scheme: { $case: "oauth2SecurityScheme", value: scheme } } },
  });
  const byKey = await guarded((request) => request.method === "GET" || request.headers["x-card-key"] === SECRET, {
    securitySchemes: {
      k: {
        scheme: { $case: "apiKeySecurityScheme", value: { description: "", location: "header", name: "X-Card-Key" } },
      },
    },
  });
  const crew = crewFor([byToken.host, byKey.host, oauth.host], {
    agents: [
      remoteAgent("token", {
        cardUrl: byToken.cardUrl,
        auth: { type: "oauth2", client_id: "robot", client_secret: "$REMOTE" },
      }),
      remoteAgent("key", { cardUrl: byKey.cardUrl, auth: { type: "apiKey", key: "$REMOTE" } }),
    ],
    env: { PATH, REMOTE: SECRET },
  });

  const { status } = await crew.run({
    mode: "parallel",
    tasks: [
      { agent: "token", task: "a" },
      { agent: "key", task: "b" },
    ],
  });

  expect(status).toBe("ok");
  expect(oauth.grants.map((form) => form.get("scope"))).toEqual(["read"]);
});

test("OAuth as a person: the browser returns a code, PKCE proves the client, and the sign-in is stored", async () => {
  const { oauth, ask } = await behindOauth(byPerson);
  const home = tempFolder();
  const browse = async (text: string): Promise<void> => void (await fetch(/http:\S+/.exec(text)![0]));

  const run = ask("hello", { home });
  for await (const event of run) if (event.type === "note" && event.text.includes("sign in")) await browse(event.text);
  expect(run.state.outcome).toMatchObject({ status: "ok", output: "hello" });

  expect(await ask("later", { home, unattended: true })).toMatchObject({ status: "ok", output: "later" });

  oauth.valid.clear();
  expect(await ask("renewed", { home, unattended: true })).toMatchObject({ status: "ok", output: "renewed" });
  expect(oauth.grants.map((form) => form.get("grant_type"))).toEqual(["authorization_code", "refresh_token"]);
  const [file] = readdirSync(join(home, "a2a"));
  expect(statSync(join(home, "a2a", file!)).mode & 0o777).toBe(0o600);
});

test("OAuth as a person fails in an unattended run, and a code with a wrong state is refused", async () => {
  const { oauth, ask } = await behindOauth(byPerson);
  const { nodes } = await ask("hello", { unattended: true });
  expect(nodes["it"]).toMatchObject({ fault: { code: "NEEDS_ANSWER" } });

  const run = ask("hello");
  for await (const event of run) {
    if (event.type !== "note" || !event.text.includes("sign in")) continue;
    const back = new URL(new URL(/http:\S+/.exec(event.text)![0]).searchParams.get("redirect_uri")!);
    expect((await fetch(`${back.href}?code=mine&state=guessed`)).status).toBe(404);
    run.cancel();
  }
  await run;
  expect(run.state.outcome?.status).toBe("cancelled");
  expect(oauth.grants).toHaveLength(0);
});

/** All files in a folder, as one text. */
function textIn(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
    .join("\n");
}
