import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type ProviderServer, startProviderServer } from "../../../../src/testing/provider-server.ts";
import { registerHost } from "../../../../src/cli/setup/register-host.ts";
import { tempFolder } from "../../../support/temp-folder.ts";
import { place } from "../../command.ts";

const how = { command: "subcrew", args: ["mcp"] } as const;
const keys = ["OPENAI_API_KEY"];

test("init keeps the other servers in a host's settings file, and a copy of the file", async () => {
  const home = tempFolder({ ".cursor/mcp.json": '{"mcpServers":{"other":{"command":"x"}},"more":1}' });
  const done = await registerHost({ name: "cursor", registered: false, file: ".cursor/mcp.json" }, home, how, keys);
  const file = join(home, ".cursor/mcp.json");
  expect(done).toEqual({ file, backup: `${file}.before-subcrew` });
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
    mcpServers: { other: { command: "x" }, subcrew: { command: "subcrew", args: ["mcp"] } },
    more: 1,
  });
  expect(readFileSync(`${file}.before-subcrew`, "utf8")).toContain('"more":1');
});

test("init does not change a host's settings file that has comments", async () => {
  const text = '{\n  // mine\n  "servers": {}\n}\n';
  const home = tempFolder({ ".config/Code/User/mcp.json": text });
  const host = { name: "vscode", registered: false, file: ".config/Code/User/mcp.json" } as const;
  expect(await registerHost(host, home, how, keys)).toHaveProperty("problem");
  expect(readFileSync(join(home, host.file), "utf8")).toBe(text);
  expect(existsSync(join(home, `${host.file}.before-subcrew`))).toBe(false);
});

test("init adds a table at the end of Codex's settings file, and creates a missing file", async () => {
  const home = tempFolder();
  const host = { name: "codex", registered: false, file: ".codex/config.toml" } as const;
  await registerHost(host, home, how, keys);
  mkdirSync(join(home, "b/.codex"), { recursive: true });
  writeFileSync(join(home, "b/.codex/config.toml"), 'model = "x"\n');
  await registerHost(host, join(home, "b"), how, keys);
  const table =
    '[mcp_servers.subcrew]\ncommand = "subcrew"\nargs = ["mcp"]\nenv_vars = ["OPENAI_API_KEY"]\nrequired = true\nstartup_timeout_sec = 30\ntool_timeout_sec = 3600\n';
  expect(readFileSync(join(home, host.file), "utf8")).toBe(table);
  expect(readFileSync(join(home, "b", host.file), "utf8")).toBe(`model = "x"\n\n${table}`);
});

/** A local model server: it lists these models and answers each request with the name of the requested model. */
async function localServer(...models: readonly string[]): Promise<ProviderServer> {
  const server = await startProviderServer(({ model }) => `${model} says: watered on Monday.`, { models });
  onTestFinished(() => server.close());
  return server;
}

test("init offers the model of a local server that answers, creates an agent, and overwrites nothing", async () => {
  const server = await localServer("nomic-embed-text:latest", "small", "large");
  const here = place();
  const env = { VLLM_BASE_URL: `${server.url}/v1` };
  const refused = await here.run(["init"], { env, shared: true });
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("Add --yes") as string });
  const first = await here.run(["init", "--yes", "--json"], { env, shared: true });
  const { done } = JSON.parse(first.stdout) as { done: readonly { about: string; file: string }[] };
  const fileOf = (about: string): string => readFileSync(done.find((each) => each.about === about)?.file ?? "", "utf8");
  expect(fileOf("settings")).toContain("model: vllm/small");
  expect(fileOf("agent")).toContain("name: helper");
  const again = await here.run(["init", "--yes"], { env, shared: true });
  expect(again.stdout).toContain("(kept as it is)");

  // The first answer comes from the server; before that, only its list was requested.
  expect(server.requests).toEqual([]);
  const answer = await here.run(["run", "helper", "When were the plants watered?"], { env, shared: true });
  expect(answer).toMatchObject({ code: 0, stdout: "small says: watered on Monday.\n" });
});

test("init finds a server that only the settings name, and offers no model that cannot chat", async () => {
  const [own, embedding] = [
    await localServer("llama-3.2-3b"),
    await localServer("text-embedding-nomic-embed-text-v1.5"),
  ];
  const here = place();
  const config = join(here.env["SUBCREW_HOME"]!, "config.yaml");
  mkdirSync(here.env["SUBCREW_HOME"]!, { recursive: true });
  writeFileSync(config, `providers:\n  house: { baseURL: "${own.url}/v1" }\n`);
  const env = { LMSTUDIO_BASE_URL: `${embedding.url}/v1` };
  const { stdout } = await here.run(["init", "--yes", "--no-agent"], { env, shared: true });
  expect(stdout).toContain(`Server   house at ${own.url}/v1: llama-3.2-3b\n`);
  expect(stdout).toContain("Keys     none");
  expect(readFileSync(config, "utf8")).toContain("model: house/llama-3.2-3b");
  const models = await here.run(["models"], { env });
  expect(models.stdout).toMatch(/house +ready +1 model/);
});

test("a newcomer with a key gets a first answer, a first agent and a first team from the provider", async () => {
  const server = await localServer("claude-haiku-4-5");
  const env = { ANTHROPIC_API_KEY: "local-provider-key", ANTHROPIC_BASE_URL: server.url };
  const team =
    "team:\n  tasks:\n    - { id: find, task: Find it. }\n    - { id: sum, task: Sum it up., depends: [find] }\n";
  const here = place({ "team.yaml": team });
  const said = expect.stringMatching(/(^|\n)claude-[a-z0-9-]+ says: watered on Monday\.\n$/) as string;
  for (const line of ["run explore When?", "agents new gardener", "run gardener When?", "team --input team.yaml"]) {
    const ended = await here.run(line.split(" "), { env, shared: true });
    expect(ended, line).toMatchObject({ code: 0, ...(line.startsWith("agents") ? {} : { stdout: said }) });
  }
  expect(server.requests).toHaveLength(4);
});
