import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCrew } from "../../src/crew.ts";
import type { Crew } from "../../src/crew/crew-type.ts";
import type { RunningServer } from "../../src/runtime/network/loopback-server.ts";
import { changes } from "../../src/web/changes.ts";
import { looks } from "../../src/web/routes.ts";
import { openWeb } from "../../src/web/server.ts";
import { linkToken, newSecrets } from "../../src/web/sessions.ts";

const secrets = newSecrets();
const home = mkdtempSync(join(tmpdir(), "subcrew-web-"));
let crew: Crew;
let server: RunningServer;
let cookie: string;
let guest: string;
/** The commands that the server was asked to run. */
const commands: string[] = [];

/** A key of the environment, and one that only the file of an agent contains. */
const KEY = "value-of-key-1";
const OWN_KEY = "value-of-own-key-1";
const keeper = `---
name: keeper
description: Knows ${KEY}.
mcpServers: { own: { command: "true", env: { API_KEY: "${OWN_KEY}" } } }
---
Use ${KEY}.
`;

beforeAll(async () => {
  for (const file of ["index.html", "app.js", "app.css", "icon.svg"]) writeFileSync(join(home, file), file);
  mkdirSync(join(home, ".agents", "agents"), { recursive: true });
  writeFileSync(join(home, ".agents", "agents", "keeper.md"), keeper);
  const crewAt = (cwd: string): Crew =>
    createCrew({ cwd, home: join(home, "state"), userHome: home, env: { WORK_API_KEY: KEY } });
  crew = crewAt(home);
  server = await openWeb(crew, {
    secrets,
    port: 0,
    assets: home,
    user: process.getuid?.(),
    crewAt: async (cwd) => crewAt(cwd),
    ownCommand: async (words) => {
      commands.push(words.join(" "));
      return "[]";
    },
    onError: () => {},
  });
  cookie = await signedIn("full");
  guest = await signedIn("read");
});
afterAll(() => server.close());

type Answer = Readonly<{ status: number; headers: Readonly<Record<string, unknown>>; body: string }>;
type Asked = Readonly<{ method?: string; headers?: Readonly<Record<string, string>>; body?: string }>;

/** A request without an HTTP library, because libraries do not allow a false host name. */
function ask(path: string, { method = "GET", headers = {}, body }: Asked = {}): Promise<Answer> {
  return new Promise((done, failed) => {
    const asked = request({ host: "127.0.0.1", port: server.port, path, method, headers }, (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => (text += chunk.toString()));
      response.on("end", () => done({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
      response.on("error", failed);
    });
    asked.on("error", failed);
    asked.end(body);
  });
}

const at = (path: string): string => `/${secrets.prefix}/${path}`;
async function signedIn(role: "full" | "read"): Promise<string> {
  const { headers } = await ask(at(`enter?token=${linkToken(secrets, role)}`));
  return String(headers["set-cookie"]).split(";")[0]!;
}
const ours = () => ({
  cookie,
  origin: `http://127.0.0.1:${server.port}`,
  "x-subcrew": "page",
  "content-type": "application/json",
});
const post = (more: Readonly<Record<string, string>> = {}, body = "{}"): Promise<Answer> =>
  ask(at("api/plan"), { method: "POST", headers: { ...ours(), ...more }, body });

describe("signing in", () => {
  test("the cookie is HttpOnly, SameSite=Strict and limited to the path with the random prefix", async () => {
    const { headers, status, body } = await ask(at(`enter?token=${linkToken(secrets, "full")}`));
    expect(status).toBe(200);
    expect(String(headers["set-cookie"])).toMatch(
      new RegExp(`^subcrew=[^;]+; Path=/${secrets.prefix}; HttpOnly; SameSite=Strict; Max-Age=\\d+$`),
    );
    expect(body).not.toContain("token=");
    expect(secrets.prefix).toMatch(/^[\w-]{22}$/);
  });

  test("a link works once; a link of an earlier server start, a link with another key, and an invented link do not work", async () => {
    const token = linkToken(secrets, "full");
    expect((await ask(at(`enter?token=${token}`))).status).toBe(200);
    expect((await ask(at(`enter?token=${token}`))).status).toBe(401);
    const others = [
      linkToken(newSecrets(secrets), "full"),
      linkToken({ ...newSecrets(), boot: secrets.boot }, "full"),
      "",
      "full",
      `${token.slice(0, -1)}A`,
      token.replace("full", "read"),
    ];
    for (const other of others)
      expect((await ask(at(`enter?token=${encodeURIComponent(other)}`))).status, other).toBe(401);
  });

  test.each(["", "app.js", "events", "api/hello", "api/runs"])(
    "without the cookie, %j reveals nothing",
    async (path) => {
      for (const sent of ["", "subcrew=full.x.y.z", `subcrew=${linkToken(secrets, "full")}`]) {
        const { status, body } = await ask(at(path), { headers: sent === "" ? {} : { cookie: sent } });
        expect(status).toBe(401);
        expect(body).toContain("Run <code>subcrew web</code>");
      }
    },
  );

  test("outside of the secret prefix every address is unknown, even with the cookie", async () => {
    for (const path of ["/", "/app.js", "/api/hello", `/${secrets.prefix}x/`, `/${secrets.prefix}`])
      expect((await ask(path, { headers: { cookie } })).status, path).toBe(404);
  });

  test("a cookie of another local server with the same name does not hide ours", async () => {
    expect((await ask(at("api/hello"), { headers: { cookie: `subcrew=other; ${cookie}` } })).status).toBe(200);
  });

  test("only named files are served", async () => {
    for (const path of ["../state/web.json", "%2e%2e/web.json"])
      expect((await ask(at(path), { headers: { cookie } })).status, path).toBe(403);
    for (const path of ["web.json", "constructor", "api/constructor", "__proto__", "api/toString"])
      expect((await ask(at(path), { headers: { cookie } })).status, path).toBe(404);
  });
});

describe("a page of another origin", () => {
  test("gets nothing under its own host name (DNS rebinding)", async () => {
    for (const host of [
      "evil.example",
      `evil.example:${server.port}`,
      `127.0.0.1.evil.example:${server.port}`,
      `0.0.0.0:${server.port}`,
      "127.0.0.1:1",
    ])
      expect((await ask(at("api/hello"), { headers: { cookie, host } })).status, host).toBe(403);
  });

  test("cannot send requests with the cookie of the person (CSRF)", async () => {
    // 400 and not 403: a request of our own page passes the check of its origin, and fails only because of its input
    expect((await post()).status).toBe(400);
    for (const more of [
      { origin: "http://evil.example" },
      { origin: "null" },
      { origin: `http://127.0.0.1:${server.port + 1}` },
      { origin: `https://127.0.0.1:${server.port}` },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { "x-subcrew": "" },
    ])
      expect((await post(more)).status, JSON.stringify(more)).toBe(403);
    const { origin: _origin, ...without } = ours();
    expect((await ask(at("api/plan"), { method: "POST", headers: without, body: "{}" })).status).toBe(403);
    expect((await post({ "content-type": "text/plain" })).status).toBe(415);
  });

  test("cannot read data with the cookie of the person either", async () => {
    expect((await ask(at("api/hello"), { headers: { cookie, "sec-fetch-site": "cross-site" } })).status).toBe(403);
    expect((await ask(at("events"), { headers: { cookie, origin: "http://evil.example" } })).status).toBe(403);
    const { headers } = await ask(at("api/hello"), { headers: { cookie } });
    expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  });

  test("may follow the link that signs in, and nothing else", async () => {
    const link = await ask(at(`enter?token=${linkToken(secrets, "full")}`), {
      headers: { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" },
    });
    expect(link.status).toBe(200);
    expect((await ask(at(""), { headers: { cookie, "sec-fetch-site": "cross-site" } })).status).toBe(403);
  });

  test("cannot put a frame around the page (clickjacking), and scripts come only from the page", async () => {
    for (const path of ["", "app.js", "api/hello", "enter?token=x"]) {
      const { headers } = await ask(at(path), { headers: { cookie } });
      const policy = String(headers["content-security-policy"]);
      for (const part of [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
      ])
        expect(policy).toContain(part);
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      expect(headers).toMatchObject({
        "x-frame-options": "DENY",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cache-control": "no-store",
        "cross-origin-resource-policy": "same-origin",
      });
    }
  });
});

describe("clients that misbehave", () => {
  test("a body over the limit is refused, with and without its length", async () => {
    const long = JSON.stringify({ input: { task: "x".repeat(1_100_000) } });
    expect((await post({}, long)).status).toBe(413);
    expect((await post({ "transfer-encoding": "chunked" }, long).catch(() => ({ status: 413 }))).status).toBe(413);
    expect((await ask(at("api/hello"), { headers: { cookie } })).status).toBe(200);
  });

  test.each([
    "",
    "[]",
    "null",
    "{",
    '{"input":1}',
    '{"input":{"mode":"nope"}}',
    '{"run":5}',
    '{"__proto__":{"x":1},"input":{"mode":"single"}}',
  ])("the body %j gets an error message and does not crash the server", async (body) => {
    const answer = await post({}, body);
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body)).toEqual({
      code: "BAD_INPUT",
      message: expect.stringMatching(/\.$/),
      hint: expect.any(String),
    });
  });

  test("a client that opens the stream and never reads does not block the others", async () => {
    const socket = connect(server.port, "127.0.0.1");
    socket.write(`GET ${at("events")} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nCookie: ${cookie}\r\n\r\n`);
    socket.pause();
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(at("api/hello"), { headers: { cookie } })));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    socket.destroy();
  });

  test("requests for more streams than allowed are told to retry later", async () => {
    const sockets = Array.from({ length: 101 }, () => connect(server.port, "127.0.0.1"));
    const heads = await Promise.all(
      sockets.map(
        (socket) =>
          new Promise<string>((done) => {
            socket.once("data", (chunk: Buffer) => done(chunk.toString().split("\r\n", 1)[0]!));
            socket.write(`GET ${at("events")} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nCookie: ${cookie}\r\n\r\n`);
          }),
      ),
    );
    for (const socket of sockets) socket.destroy();
    expect(heads.filter((head) => head.includes("503")).length).toBeGreaterThanOrEqual(1);
    expect(heads.filter((head) => head.includes("200")).length).toBeGreaterThanOrEqual(99);
  });
});

describe("another user of the machine", () => {
  const stranger = 65_534;
  /** The response that a process of that user gets with the built-in client. */
  const asked = async (path: string, sent: string, host = "127.0.0.1"): Promise<string> => {
    const headers = { host: `127.0.0.1:${server.port}`, cookie: sent };
    const program = `require("http").get(${JSON.stringify({ host, port: server.port, path, headers })}, (r) => { let t = ""; r.on("data", (c) => (t += c)); r.on("end", () => console.log(r.statusCode + " " + t)); }).on("error", (e) => console.log(e.code))`;
    const options = { uid: stranger, gid: stranger, cwd: "/", env: {}, timeout: 30_000 };
    return (await promisify(execFile)(process.execPath, ["-e", program], options)).stdout;
  };

  test("cannot use a stolen cookie or a stolen link, and can read with a shared link", async (context) => {
    if (process.getuid?.() !== 0 || process.platform !== "linux")
      context.skip("only the administrator of a Linux system can become another user");
    const token = linkToken(secrets, "full");
    for (const host of ["127.0.0.1", "::ffff:127.0.0.1"]) {
      expect(await asked(at("api/hello"), cookie, host)).toMatch(/^403 .*another user/);
      expect(await asked(at(`enter?token=${token}`), "", host)).toMatch(/^403 .*another user/);
      expect(await asked(at("api/hello"), guest, host)).toMatch(/^200 .*"role":"read"/);
    }
  });

  test("a refused link still works for its owner", async (context) => {
    if (process.getuid?.() !== 0 || process.platform !== "linux")
      context.skip("only the administrator of a Linux system can become another user");
    const token = linkToken(secrets, "full");
    await asked(at(`enter?token=${token}`), "");
    expect((await ask(at(`enter?token=${token}`))).status).toBe(200);
  });
});

describe("a guest with a read-only link", () => {
  test("can read and send nothing", async () => {
    expect(JSON.parse((await ask(at("api/hello"), { headers: { cookie: guest } })).body)).toMatchObject({
      role: "read",
    });
    for (const name of [...Object.keys(changes), ...Object.keys(looks), "enter", "events", ""]) {
      const { status, body } = await ask(at(`api/${name}`), {
        method: "POST",
        headers: { ...ours(), cookie: guest },
        body: "{}",
      });
      expect(status).toBe(403);
      expect(JSON.parse(body)).toMatchObject({ message: "This link is read-only." });
    }
    expect(commands).toEqual([]);
  });
});

test("a known secret in an agent file is in no answer about agents, also for a guest", async () => {
  mkdirSync(join(home, ".agents/agents"), { recursive: true });
  writeFileSync(
    join(home, ".agents/agents/leaky.md"),
    `---\nname: leaky\ndescription: Uses ${KEY}.\ntools: [read_file, ${KEY}]\n---\nLog in with ${KEY}.\n`,
  );
  for (const path of ["agents", "agent?name=leaky", "lint", "convert?name=leaky&to=claude", "start"])
    for (const who of [cookie, guest]) {
      const { status, body } = await ask(at(`api/${path}`), { headers: { cookie: who } });
      expect(status, path).toBe(200);
      expect(body, path).toContain("[redacted]");
      expect(body, path).not.toContain(KEY);
    }
});

test("only a full link chooses the project, whose path cannot become HTML and is never relative to the server", async () => {
  const other = `${home}/"><script>`;
  mkdirSync(other);
  const query = new URLSearchParams({ cwd: other }).toString();
  for (const path of ["hello", "start"])
    for (const [who, cwd] of [
      [cookie, other],
      [guest, home],
    ] as const) {
      const { body } = await ask(at(`api/${path}?${query}`), { headers: { cookie: who } });
      expect(JSON.parse(body), path).toMatchObject({ cwd });
    }
  const { status, body } = await ask(at(`enter?token=${linkToken(secrets, "full")}&${query}`));
  expect(status).toBe(200);
  expect(body).toContain(`url=${at("")}?${query}"`);
  expect(body).not.toContain("<script>");
  for (const cwd of ["", "project", "~/project", ` ${home}`]) {
    const answer = await post({}, JSON.stringify({ cwd, input: { mode: "single", task: "x" } }));
    expect(answer.body, cwd).toContain("absolute path");
  }
});

describe("requests of the page", () => {
  test("an unknown run, task or agent file gets the same error and hint as in the terminal", async () => {
    const { status, body } = await ask(at("api/actions?run=run_nothere&path="), { headers: { cookie } });
    expect(status).toBe(404);
    expect(JSON.parse(body)).toMatchObject({ code: "UNKNOWN_RUN", hint: expect.stringMatching(/\w/) });
    const convert = await ask(at("api/convert?name=/etc/passwd&to=claude"), { headers: { cookie } });
    expect(convert.status).toBe(404);
    expect(commands).toEqual([]);
  });

  test.each([
    "log?run=run_x&before=abc",
    "log?run=run_x&before=-1",
    "transcript?run=run_x&path=&before=1e3",
    "transcript?run=run_x&path=&before=0x10",
    "transcript?run=run_x&path=&before=1.5",
    "cost?days=NaN",
    "cost?days=99999999999999999999",
    "runs?before=abc",
  ])("a number or place that cannot be read is refused by name: %s", async (path) => {
    const { status, body } = await ask(at(`api/${path}`), { headers: { cookie } });
    expect(status).toBe(400);
    expect(JSON.parse(body)).toMatchObject({ code: "BAD_INPUT", message: expect.stringMatching(/before|days/) });
  });

  test("a run id that is a path, empty or too long reads and writes no file, and the error names no folder", async () => {
    const ids = ["../../etc", "..", "run_x/../..", "%00", "", "a".repeat(5_000)];
    const cancel = (run: string): string => JSON.stringify({ run, path: "", command: { do: "cancel" } });
    for (const run of ids) {
      const found = await Promise.all([
        ...["transcript", "log", "task", "call", "actions", "diff"].map((route) =>
          ask(at(`api/${route}?run=${encodeURIComponent(run)}&path=`), { headers: { cookie } }),
        ),
        ask(at("api/tell"), { method: "POST", headers: ours(), body: cancel(run) }),
      ]);
      for (const { status, body } of found) {
        expect(status, `${run} ${body}`).toBeGreaterThanOrEqual(400);
        expect(status, run).toBeLessThan(500);
        expect(body).not.toContain(home);
      }
    }
    expect(existsSync(join(home, "state", "run-commands"))).toBe(false);
  });
});

test("no answer of the page, shared or not, contains a known secret of an agent's definition", async () => {
  const bodies = await Promise.all(
    [cookie, guest].flatMap((who) =>
      [
        "agents",
        "agent?name=keeper",
        "convert?name=keeper&to=claude",
        "convert?name=keeper&to=gemini",
        "start",
        "lint",
      ].map(async (path) => (await ask(at(`api/${path}`), { headers: { cookie: who } })).body),
    ),
  );
  expect(bodies.filter((body) => body.includes(KEY) || body.includes(OWN_KEY))).toEqual([]);
  expect(bodies.filter((body) => body.includes("Knows [redacted]"))).toHaveLength(10);
});
