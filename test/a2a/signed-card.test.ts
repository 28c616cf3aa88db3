import { generateKeyPairSync, type KeyObject } from "node:crypto";
import type { ServerResponse } from "node:http";
import { verifyAgentCardSignature } from "@a2a-js/sdk";
import { DefaultAgentCardResolver } from "@a2a-js/sdk/client";
import { describe, expect, test, vi } from "vitest";
import { createPush } from "../../src/a2a/push.ts";
import type { Agent } from "../../src/index.ts";
import { webServer } from "../support/web-server.ts";
import { crewFor, ourServer, remoteAgent, workerCrew } from "./lab.ts";

const pem = (key: KeyObject, type: "pkcs8" | "spki"): string => String(key.export({ format: "pem", type }));
const pair = () => generateKeyPairSync("ec", { namedCurve: "P-256" });

/** A subcrew server that signs its cards, and a second crew that knows its agent. */
async function bridge(remote: (url: string) => NonNullable<Agent["remote"]>, key: KeyObject = pair().privateKey) {
  const server = await ourServer(workerCrew(["from afar"]), { signingKey: pem(key, "pkcs8") });
  const auth = { type: "bearer", token: server.token };
  const here = crewFor([server.host], { agents: [remoteAgent("far", { auth, ...remote(server.card()) })] });
  return { server, run: () => here.run({ mode: "single", agent: "far", task: "hello" }) };
}

describe("signed cards", () => {
  test.for(["ec", "ed25519", "rsa"] as const)("the official SDK accepts a card signed with %s", async (kind) => {
    const options = { ec: { namedCurve: "P-256" }, ed25519: {}, rsa: { modulusLength: 2048 } }[kind];
    const { privateKey } = generateKeyPairSync(kind as "ec", options as { namedCurve: string });
    const server = await ourServer(workerCrew(["x"]), { signingKey: pem(privateKey, "pkcs8"), publicCards: true });
    const json: unknown = await (await fetch(server.card(), { headers: { "a2a-version": "1.0" } })).json();
    const card = new DefaultAgentCardResolver({}).normalizeAgentCard(json);
    const verify = verifyAgentCardSignature(async (kid, jku) => {
      const { keys } = (await (await fetch(jku ?? "")).json()) as { keys: { kid: string }[] };
      return keys.find((each) => each.kid === kid)!;
    });
    await verify(card);
    await expect(verify({ ...card, description: "another one" })).rejects.toThrow();
  });

  test("are checked with the keys of their server, or with the key that the agent's file names", async () => {
    const { privateKey, publicKey } = pair();
    for (const signedBy of [undefined, pem(publicKey, "spki")]) {
      const { run } = await bridge((cardUrl) => ({ cardUrl, ...(signedBy !== undefined && { signedBy }) }), privateKey);
      expect(await run()).toMatchObject({ status: "ok", output: "from afar" });
    }
    const byAddress = await bridge((cardUrl) => ({
      cardUrl,
      signedBy: `${new URL(cardUrl).origin}/.well-known/jwks.json`,
    }));
    expect(await byAddress.run()).toMatchObject({ status: "ok" });
  });

  test("that are unsigned, or signed with another key, are refused where the file names a key", async () => {
    const other = pem(pair().publicKey, "spki");
    const { run } = await bridge((cardUrl) => ({ cardUrl, signedBy: other }));
    expect(await run()).toMatchObject({ status: "failed", fault: { code: "REMOTE_CARD" } });
    const unsigned = await ourServer(workerCrew(["x"]), { publicCards: true });
    const here = crewFor([unsigned.host], {
      agents: [remoteAgent("far", { cardUrl: unsigned.card(), signedBy: other })],
    });
    expect(await here.run({ mode: "single", agent: "far", task: "x" })).toMatchObject({
      status: "failed",
      fault: { code: "REMOTE_CARD", message: expect.stringContaining("not signed") },
    });
  });

  test("that were changed on the way are refused", async () => {
    const { server } = await bridge((cardUrl) => ({ cardUrl }));
    const headers = { "a2a-version": "1.0", authorization: `Bearer ${server.token}` };
    const card = (await (await fetch(server.card(), { headers })).json()) as { signatures: { protected: string }[] };
    const keys: unknown = await (await fetch(`${server.url}/.well-known/jwks.json`)).json();
    const answer = (response: ServerResponse, value: unknown): void =>
      void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
    const middle = await webServer({
      "/card.json": (_, response) => answer(response, { ...card, description: "changed", signatures: signed() }),
      "/keys": (_, response) => answer(response, keys),
    });
    /**
     * A forged header of a signature. It names keys at the origin of the card itself, so the signature is checked, and
     * the check fails.
     */
    const signed = () => {
      const header = JSON.parse(Buffer.from(card.signatures[0]!.protected, "base64url").toString()) as object;
      const moved = Buffer.from(JSON.stringify({ ...header, jku: middle.url("/keys") })).toString("base64url");
      return [{ ...card.signatures[0], protected: moved }];
    };
    const here = crewFor([middle.host, server.host], {
      agents: [remoteAgent("far", { cardUrl: middle.url("/card.json") })],
    });
    expect(await here.run({ mode: "single", agent: "far", task: "x" })).toMatchObject({
      status: "failed",
      fault: { code: "REMOTE_CARD", message: expect.stringContaining("signature") },
    });
  });

  test("a key that cannot sign is reported as a mistake of the caller", async () => {
    await expect(ourServer(workerCrew([]), { signingKey: "no key" })).rejects.toMatchObject({ code: "BAD_INPUT" });
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
