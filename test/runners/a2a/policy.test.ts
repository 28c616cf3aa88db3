import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createCrew } from "../../../src/index.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { webServer } from "../../support/web-server.ts";
import { crewFor, listen, PATH, remoteAgent } from "../../a2a/lab.ts";
import { rpcServer } from "../../a2a/rpc-server.ts";
import { sdkServer } from "../../a2a/sdk-server.ts";

test.each([
  ["no person is available", { unattended: true, permissions: {} }, "DENIED"],
  ["a rule denies it", { permissions: { mode: "bypass", deny: ["a2a(http://127.0.0.1/*)", "a2a"] } }, "DENIED"],
  ["a rule denies the network", { permissions: { mode: "bypass", deny: ["network"] } }, "DENIED"],
  ["only reading is allowed", { permissions: { mode: "plan" } }, "DENIED"],
  ["the address is not public and was not allowed", { network: {}, permissions: { mode: "bypass" } }, "DENIED"],
] as const)("nothing is sent when %s: not a single connection", async (_, options, code) => {
  const server = await sdkServer(({ text }, say) => say.message(text));
  const crew = crewFor([server.host], {
    agents: [remoteAgent("echo", { cardUrl: server.cardUrl })],
    ...options,
  } as never);

  const { nodes } = await crew.run({ mode: "single", agent: "echo", task: "hello" });

  expect(nodes["echo"]).toMatchObject({ status: "failed", fault: { code } });
  expect(server.connections()).toBe(0);
});

test("a person is asked with everything that will be sent, the recipient and the secret, once per server", async () => {
  const server = await sdkServer(({ text }, say) => say.message(text));
  const auth = { type: "http", scheme: "Bearer", token: "$ECHO_TOKEN" };
  const crew = crewFor([server.host], {
    agents: [remoteAgent("echo", { cardUrl: server.cardUrl, auth })],
    env: { PATH, ECHO_TOKEN: "a-secret-that-is-long" },
    permissions: {},
  });

  const run = crew.run({ mode: "single", agent: "echo", task: "tell nobody" });
  const events = await listen(run, () => ({ approve: true }));

  const questions = events.flatMap((event) => (event.type === "gate.opened" ? [event.question] : []));
  expect(questions).toHaveLength(1);
  expect(questions[0]).toContain(server.cardUrl);
  expect(questions[0]).toContain("tell nobody");
  expect(questions[0]).toContain("Bearer with $ECHO_TOKEN");
  expect(questions[0]).not.toContain("a-secret-that-is-long");
  expect(run.state.outcome).toMatchObject({ status: "ok", output: "tell nobody" });
});

test("the answer no denies the task, and a rule for the server allows it", async () => {
  const server = await sdkServer(({ text }, say) => say.message(text));
  const agents = [remoteAgent("echo", { cardUrl: server.cardUrl })];
  const asked = crewFor([server.host], { agents, permissions: {} }).run({ mode: "single", agent: "echo", task: "a" });
  await listen(asked, () => ({ approve: false }));
  const ruled = await crewFor([server.host], {
    agents,
    unattended: true,
    permissions: { allow: [`a2a(${server.url("/*")})`] },
  }).run({ mode: "single", agent: "echo", task: "b" });

  expect(asked.state.outcome).toMatchObject({ status: "failed", fault: { code: "DENIED" } });
  expect(ruled).toMatchObject({ status: "ok", output: "b" });
});

test("a card that points to another server needs a new approval, and a redirect to it is not followed", async () => {
  const other = await webServer({ "*": "stolen" });
  const lured = await sdkServer(({ text }, say) => say.message(text), {
    card: {
      supportedInterfaces: [{ url: other.url("/rpc"), protocolBinding: "JSONRPC", tenant: "", protocolVersion: "1.0" }],
    },
  });
  const sentOn = await webServer({
    "/card.json": (_, response) => response.writeHead(302, { location: other.url("/card.json") }).end(),
  });
  const hosts = [lured.host, other.host, sentOn.host];
  const agents = [
    remoteAgent("lured", { cardUrl: lured.cardUrl }),
    remoteAgent("moved", { cardUrl: sentOn.url("/card.json") }),
  ];
  const permissions = { allow: [`a2a(${lured.url("/*")})`, `a2a(${sentOn.url("/*")})`] };
  const crew = crewFor(hosts, { agents, unattended: true, permissions });

  const { nodes } = await crew.run({
    mode: "parallel",
    tasks: [
      { agent: "lured", task: "a" },
      { agent: "moved", task: "b" },
    ],
  });

  expect(Object.values(nodes).filter(({ status }) => status === "failed").length).toBeGreaterThanOrEqual(2);
  expect(other.connections()).toBe(0);
});

test("a deny rule for one path of a server still applies after a person has approved the server", async () => {
  const server = await rpcServer([], () => ({ url: server.url("/admin/rpc") }));
  const agents = [remoteAgent("old", { cardUrl: server.cardUrl })];
  const permissions = { allow: ["a2a"], deny: [`a2a(${server.url("/admin/*")})`] };
  const crew = crewFor([server.host], { agents, permissions });

  const { nodes } = await crew.run({ mode: "single", agent: "old", task: "hello" });

  expect(nodes["old"]).toMatchObject({ status: "failed", fault: { code: "DENIED" } });
  expect(server.requests.map(({ url }) => url)).toEqual(["/card.json"]);
});

test("the agents of a project that is not trusted are listed and never contacted", async () => {
  const server = await sdkServer(({ text }, say) => say.message(text));
  const cwd = tempFolder();
  mkdirSync(join(cwd, ".gemini", "agents"), { recursive: true });
  mkdirSync(join(cwd, ".git"));
  const file = ["one", "two"]
    .map((name) => `- kind: remote\n  name: ${name}\n  agent_card_url: ${server.cardUrl}\n`)
    .join("");
  writeFileSync(join(cwd, ".gemini", "agents", "remotes.md"), `---\n${file}---\n`);
  const options = {
    cwd,
    home: tempFolder(),
    userHome: tempFolder(),
    env: { PATH },
    permissions: { allow: ["a2a"] },
    network: { allowHosts: [server.host] },
  };

  const untrusted = createCrew(options);
  expect((await untrusted.agents()).untrusted.map(({ name }) => name)).toEqual(["one", "two"]);
  await expect(Promise.resolve(untrusted.run({ mode: "single", agent: "one", task: "hello" }))).rejects.toMatchObject({
    code: "UNTRUSTED",
  });
  expect(server.connections()).toBe(0);

  const trusted = createCrew({ ...options, trusted: true });
  expect(await trusted.run({ mode: "single", agent: "two", task: "hello" })).toMatchObject({
    status: "ok",
    output: "hello",
  });
});
