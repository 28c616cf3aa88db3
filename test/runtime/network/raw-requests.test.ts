import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { serveHttp } from "../../../src/mcp/http.ts";
import { openServer } from "../../../src/runtime/network/loopback-server.ts";
import { waitForCode } from "../../../src/runtime/network/sign-in-callback.ts";
import { ourServer, workerCrew } from "../../a2a/lab.ts";
import { crewOf } from "../../mcp/session.ts";

const TOKEN = "a-token-that-is-long-enough-for-anybody";

/** Sends these lines as they are, and returns the status line of the answer. */
function sent(port: number, lines: readonly string[], host = "127.0.0.1"): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(port, host, () => socket.write(`${lines.join("\r\n")}\r\n\r\n`));
    socket.on("data", (chunk) => (text += chunk.toString()));
    socket.on("error", reject);
    socket.on("close", () => resolve(text.split("\r\n")[0] ?? ""));
  });
}

type Served = Readonly<{ port: number; target: string; method: string; token: string }>;

const servers: Readonly<Record<string, () => Promise<Served>>> = {
  "the server itself": async () => {
    const { port, close } = await openServer({
      tokens: { me: TOKEN },
      onError: () => {},
      handle: async (_, response) => void response.writeHead(200, { connection: "close" }).end(),
    });
    onTestFinished(close);
    return { port, target: "/", method: "GET", token: TOKEN };
  },
  "MCP over HTTP": async () => {
    const { url, close } = await serveHttp(crewOf({ scout: ["x"] }), { token: TOKEN, onError: () => {} });
    onTestFinished(close);
    return { port: Number(new URL(url).port), target: new URL(url).pathname, method: "POST", token: TOKEN };
  },
  A2A: async () => {
    const { card, token } = await ourServer(workerCrew(["x"]));
    const { port, pathname } = new URL(card());
    return { port: Number(port), target: pathname, method: "GET", token };
  },
};

test.each(Object.keys(servers))("%s refuses requests that are not clearly for it, over a real socket", async (name) => {
  const { port, target, method, token } = await servers[name]!();
  const ask = (lines: readonly string[], first = target, verb = method): Promise<string> =>
    sent(port, [
      `${verb} ${first} HTTP/1.1`,
      ...lines,
      `Authorization: Bearer ${token}`,
      "Content-Length: 0",
      "Connection: close",
    ]);
  const host = `Host: 127.0.0.1:${port}`;
  const many = Array.from({ length: 200 }, (_, at) => `X-${at}: 1`);
  const plain = await ask([host]);
  // the request is accepted; its status then depends on the protocol
  expect(plain).toMatch(/^HTTP\/1\.1 (?:200|4(?!0[13])\d\d)/);
  expect(await ask([host, ...many])).toBe(plain);
  expect(await ask([host, `Origin: http://127.0.0.1:${port}`, "Sec-Fetch-Site: same-origin"])).toBe(plain);
  const refused: readonly (readonly [string, () => Promise<string>])[] = [
    ["two hosts", () => ask([host, host])],
    ["two different hosts", () => ask([host, "Host: evil.example"])],
    ["an absolute target", () => ask([host], `http://127.0.0.1:${port}${target}`)],
    ["an absolute target elsewhere", () => ask([host], `http://evil.example${target}`)],
    ["a target with two slashes", () => ask([host], `//evil.example${target}`)],
    ["a target with a backslash", () => ask([host], `/\\evil.example${target}`)],
    ["version 6, where it does not listen", () => ask([`Host: [::1]:${port}`])],
    ["another port", () => ask([`Host: 127.0.0.1:${port + 1}`])],
    ["another name of loopback", () => ask([`Host: 127.0.0.2:${port}`])],
    ["a name with a dot behind it", () => ask([`Host: localhost.:${port}`])],
    ["somebody before the name", () => ask([`Host: a@127.0.0.1:${port}`])],
    ["no host", () => ask([])],
    ["an origin over TLS", () => ask([host, `Origin: https://127.0.0.1:${port}`])],
    ["the origin null", () => ask([host, "Origin: null"])],
    ["an empty origin", () => ask([host, "Origin:"])],
    ["two origins", () => ask([host, `Origin: http://127.0.0.1:${port}`, "Origin: http://evil.example"])],
    ["another site", () => ask([host, "Sec-Fetch-Site: cross-site"])],
    ["a site of the same kind", () => ask([host, "Sec-Fetch-Site: same-site"])],
    ["two sites", () => ask([host, "Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: cross-site"])],
    ["a host behind many headers", () => ask([host, ...many, "Host: evil.example"])],
    ["an origin behind many headers", () => ask([host, ...many, "Origin: http://evil.example"])],
    ["a site behind many headers", () => ask([host, ...many, "Sec-Fetch-Site: cross-site"])],
    ["a target with a fragment", () => ask([host], `${target}#x`)],
    ["a target that goes up", () => ask([host], `/x/..${target}`)],
    ["a target that goes up in escapes", () => ask([host], `/x/%2E.${target}`)],
    ["a method that no server uses", () => ask([host], target, "TRACE")],
    ["two tokens", () => ask([host, "Authorization: Bearer x"])],
  ];
  for (const [what, answer] of refused)
    expect([what, await answer()]).toEqual([what, expect.stringMatching(/^HTTP\/1\.1 4(?:00|03) /)]);
});

test("the sign-in accepts its code only from a browser that was redirected to its address", async () => {
  const over = new AbortController();
  let said: string[] = [];
  const came = await waitForCode({
    port: 0,
    state: "s",
    signal: over.signal,
    ready: async (redirect) => {
      const { port } = new URL(redirect);
      const ask = (target: string, ...lines: string[]): Promise<string> =>
        sent(Number(port), [`GET ${target} HTTP/1.1`, ...lines]);
      const host = `Host: 127.0.0.1:${port}`;
      said = [
        await ask("/callback?state=s&code=evil", "Host: evil.example"),
        await ask("/callback?state=s&code=evil", host, host),
        await ask("http://evil.example/callback?state=s&code=evil", host),
        await ask("//", host),
        await ask("/\\", host),
        await ask("/callback?state=t&code=evil", host),
        await ask("/callback?state=s&code=good", host, "Sec-Fetch-Site: cross-site"),
      ];
    },
  });
  expect(came.code).toBe("good");
  for (const answer of said.slice(0, -1)) expect(answer).toMatch(/^HTTP\/1\.1 40[04] /);
});
