import { generateKeyPairSync, type KeyObject } from "node:crypto";
import type { ServerResponse } from "node:http";
import { AgentCard, generateAgentCardSignature } from "@a2a-js/sdk";
import { DefaultAgentCardResolver } from "@a2a-js/sdk/client";
import { describe, expect, test, vi } from "vitest";
import { createPush } from "../../src/a2a/push.ts";
import type { Agent } from "../../src/index.ts";
import { webServer } from "../support/web-server.ts";
import { crewFor, ourServer, remoteAgent, workerCrew } from "./lab.ts";

const pem = (key: KeyObject): string => String(key.export({ format: "pem", type: "spki" }));
const pair = () => generateKeyPairSync("ec", { namedCurve: "P-256" });

/** An agent whose card the official SDK signed with this key, and a crew that knows the agent. */
async function signedAgent({
  remote = () => ({}),
  pair: { privateKey, publicKey } = pair(),
  alg = "ES256",
  change = {},
}: Readonly<{
  remote?: (origin: string) => Pick<NonNullable<Agent["remote"]>, "signedBy">;
  pair?: Readonly<{ privateKey: KeyObject; publicKey: KeyObject }>;
  alg?: string;
  change?: Partial<AgentCard>;
}>) {
  const server = await ourServer(workerCrew(["from afar"]), { publicCards: true });
  const json: unknown = await (await fetch(server.card(), { headers: { "a2a-version": "1.0" } })).json();
  const card = new DefaultAgentCardResolver({}).normalizeAgentCard(json);
  const answer = (response: ServerResponse, value: unknown): void =>
    void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
  const origin = await webServer({
    "/card.json": (_, response) => void signed().then((made) => answer(response, { ...made, ...change })),
    "/keys": (_, response) => answer(response, { keys: [{ ...publicKey.export({ format: "jwk" }), kid: "one" }] }),
  });
  const header = { alg, kid: "one", typ: "JOSE", jku: origin.url("/keys") };
  const signed = async (): Promise<object> =>
    AgentCard.toJSON(await generateAgentCardSignature(privateKey, header)(card)) as object;
  const place = { cardUrl: origin.url("/card.json"), auth: { type: "bearer", token: server.token } } as const;
  const here = crewFor([server.host, origin.host], {
    agents: [remoteAgent("far", { ...place, ...remote(origin.url()) })],
  });
  return here.run({ mode: "single", agent: "far", task: "hello" });
}

describe("signed cards", () => {
  test.for([
    ["ES256", "ec", { namedCurve: "P-256" }],
    ["EdDSA", "ed25519", {}],
    ["RS256", "rsa", { modulusLength: 2048 }],
  ] as const)("are checked with the keys at their origin (%s)", async ([alg, kind, options]) => {
    const keys = generateKeyPairSync(kind as "ec", options as { namedCurve: string });
    expect(await signedAgent({ pair: keys, alg })).toMatchObject({ status: "ok", output: "from afar" });
  });

  test("are checked with the key, or the address of keys, that the agent's file names", async () => {
    const keys = pair();
    const byKey = await signedAgent({ pair: keys, remote: () => ({ signedBy: pem(keys.publicKey) }) });
    const byAddress = await signedAgent({ remote: (origin) => ({ signedBy: new URL("/keys", origin).href }) });
    expect([byKey, byAddress]).toMatchObject([{ status: "ok" }, { status: "ok" }]);
  });

  test("that are unsigned, or signed with another key, are refused where the file names a key", async () => {
    const signedBy = pem(pair().publicKey);
    const fault = { code: "REMOTE_CARD" };
    expect(await signedAgent({ remote: () => ({ signedBy }) })).toMatchObject({ status: "failed", fault });
    expect(await signedAgent({ remote: () => ({ signedBy }), change: { signatures: [] } })).toMatchObject({
      status: "failed",
      fault: { ...fault, message: expect.stringContaining("not signed") },
    });
  });

  test("that were changed on the way are refused", async () => {
    expect(await signedAgent({ change: { description: "changed" } })).toMatchObject({
      status: "failed",
      fault: { code: "REMOTE_CARD", message: expect.stringContaining("signature") },
    });
  });
});

describe("push deliveries", () => {
  async function pushing(statuses: readonly number[], firstWaitMs = 1) {
    const left = [...statuses];
    const server = await webServer({
      "/push": (_, response) => void response.writeHead(left.shift() ?? 200).end(),
      "/other": (_, response) => void response.writeHead(200).end(),
    });
    const documents = new Map<string, string>();
    const errors: unknown[] = [];
    let count = 0;
    const push = createPush({
      kept: {
        document: async (run, name) => documents.get(`${run} ${name}`),
        setDocument: async (run, name, text) => void documents.set(`${run} ${name}`, text),
      },
      network: { allowHosts: [server.host] },
      firstWaitMs,
      write: async () => ({ body: String((count += 1)), contentType: "text/plain" }),
      onError: (error) => errors.push(error),
    });
    await push.set("run", { url: server.url("/push"), version: "1.0", id: "a" });
    const update = {} as Parameters<typeof push.tell>[1];
    const paths = () => server.requests.map(({ url }) => url);
    return { push, update, errors, paths, other: server.url("/other") };
  }

  test("that fail for a temporary reason are retried until they arrive", async () => {
    const { push, update, errors, paths } = await pushing([503, 429]);
    await push.tell("run", update);
    expect([paths(), errors]).toEqual([["/push", "/push", "/push"], []]);
  });

  test("that are refused are not retried, and other failed deliveries are given up after six tries", async () => {
    const refused = await pushing([403]);
    await refused.push.tell("run", refused.update);
    expect([refused.paths(), refused.errors]).toEqual([["/push"], [new Error("a push address answered with 403")]]);
    const broken = await pushing([500, 500, 500, 500, 500, 500, 500]);
    await broken.push.tell("run", broken.update);
    expect(broken.paths()).toHaveLength(6);
    expect(broken.errors).toHaveLength(1);
  });

  test("to one address do not wait for deliveries to another address, and closing the server ends all of them", async () => {
    const { push, update, errors, paths, other } = await pushing(Array<number>(20).fill(503), 60_000);
    await push.set("run", { url: other, version: "1.0", id: "b" });
    const told = push.tell("run", update);
    await vi.waitFor(() => expect(paths()).toEqual(expect.arrayContaining(["/push", "/other"])));
    await push.close();
    await told;
    expect(paths().filter((path) => path === "/push")).toHaveLength(2);
    expect(errors).toHaveLength(1);
  });
});
