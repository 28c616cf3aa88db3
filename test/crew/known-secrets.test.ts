import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createCrew } from "../../src/crew.ts";
import { scripted } from "../../src/models/scripted/scripted.ts";
import { tempFolder } from "../support/temp-folder.ts";

test("the values of variables and addresses that settings and agents name as secrets are masked everywhere", async () => {
  const values = {
    LLM: "value-of-llm-1",
    SEARCH: "value-of-search-1",
    ISSUES: "value-of-issues-1",
    OWN: "value-of-own-1",
  };
  const said = [...Object.values(values), "p4ssword-of-proxy", "t0ken-of-address"];
  const crew = createCrew({
    cwd: tempFolder({}),
    env: { HOME: "/nowhere", ...values },
    home: false,
    models: { mine: scripted(said.join(" ")) },
    providers: { work: { type: "openai", baseURL: "https://llm.example/v1", apiKeyEnv: "LLM" } },
    webSearch: { backend: "brave", keyEnv: "SEARCH" },
    network: { proxy: "http://me:p4ssword-of-proxy@proxy.example" },
    mcpServers: {
      issues: { url: "https://issues.example/mcp", headers: { Authorization: "Bearer ${ISSUES}" }, enabled: false },
      notes: { url: "https://notes.example/mcp?token=t0ken-of-address", enabled: false },
    },
    agents: [
      {
        name: "a",
        description: "d",
        instructions: "i",
        mcpServers: { own: { command: "true", env: { API_KEY: "${OWN}" }, enabled: false } },
      },
    ],
  });
  const run = crew.run({ mode: "single", agent: "a", task: said.join(" ") });
  const events: unknown[] = [];
  for await (const event of run) events.push(event);
  const seen = JSON.stringify([events, await run]);
  expect(said.filter((secret) => seen.includes(secret))).toEqual([]);
  expect(seen).toContain("[redacted] [redacted]");
});

test("a note stores no known secret, neither in its name nor in its text, however it is written", async () => {
  const root = tempFolder({ "work/a.txt": "" });
  const secret = "value-of-key-1";
  const encoded = Buffer.from(secret).toString("base64");
  const call = (name: string, input: object): object => ({ calls: [{ name, input }] });
  const crew = createCrew({
    cwd: join(root, "work"),
    env: { HOME: join(root, "home"), WORK_API_KEY: secret },
    home: join(root, "state"),
    models: {
      mine: scripted(
        call("memory_write", { key: secret, text: `a ${secret}` }),
        call("memory_append", { key: secret, text: `b ${encoded}`, scope: "project" }),
        call("memory_patch", { key: secret, old: "a ", new: `c ${secret} ` }),
        call("memory_write", { key: "user", text: secret, scope: "user" }),
        "done",
      ),
    },
    permissions: { mode: "bypass" },
  });
  expect((await crew.run({ mode: "single", agent: "pegasus:general", task: "x" })).status).toBe("ok");
  const memory = join(root, "state", "memory");
  const files = readdirSync(memory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const kept = files.map(({ parentPath, name }) => `${parentPath} ${readFileSync(join(parentPath, name), "utf8")}`);
  expect(kept.filter((text) => text.includes(secret) || text.includes(encoded.slice(0, 16)))).toEqual([]);
  expect(kept.join("\n")).toContain("c [redacted] [redacted]");
});

test("the secrets of agents, also of remote ones, are masked in the catalog that models and other machines get", async () => {
  const [header, token, password, key, named] = [
    "h3ader-of-server",
    "t0ken-of-remote",
    "p4ssword-of-remote",
    "k3y-of-address",
    "v4lue-of-variable",
  ];
  const agents = ".subcrew/agents";
  const file = (name: string, fields: object): string =>
    `---\n${JSON.stringify({ name, description: `${name} ${header} ${token} ${password} ${key} ${named}`, ...fields })}\n---\nText.\n`;
  const remote = (auth: object, cardUrl = "https://a.example/card"): object => ({ remote: { cardUrl, auth } });
  const userHome = tempFolder({
    [`${agents}/server.md`]: file("server", {
      mcpServers: { own: { url: "https://b.example", headers: { Authorization: `Bearer ${header}` } } },
    }),
    [`${agents}/bearer.md`]: file("bearer", remote({ type: "bearer", token }, `https://a.example/card?key=${key}`)),
    [`${agents}/named.md`]: file("named", remote({ type: "apiKey", key: "$WORK" })),
  });
  const crew = createCrew({
    cwd: tempFolder({}),
    env: { HOME: userHome, WORK: named },
    userHome,
    home: false,
    agents: [
      {
        name: "given",
        description: `given ${password}`,
        instructions: "",
        remote: { cardUrl: "https://a.example", auth: { type: "basic", username: "me", password } },
      },
    ],
  });
  const described = (await crew.catalog()).agents.map(({ description }) => description);
  const masks = "[redacted] [redacted] [redacted] [redacted] [redacted]";
  expect(described).toEqual(
    expect.arrayContaining([`server ${masks}`, `bearer ${masks}`, `named ${masks}`, "given [redacted]"]),
  );
});
