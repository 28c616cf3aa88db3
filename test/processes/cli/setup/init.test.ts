import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { registerHost } from "../../../../src/cli/setup/register-host.ts";
import { tempFolder } from "../../../support/temp-folder.ts";
import { place } from "../../command.ts";

const how = { command: "subcrew", args: ["mcp"] } as const;
const keys = ["OPENAI_API_KEY"];

test("a host keeps its own servers, and the file from before is kept", async () => {
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

test("a file with comments is not changed", async () => {
  const text = '{\n  // mine\n  "servers": {}\n}\n';
  const home = tempFolder({ ".config/Code/User/mcp.json": text });
  const host = { name: "vscode", registered: false, file: ".config/Code/User/mcp.json" } as const;
  expect(await registerHost(host, home, how, keys)).toHaveProperty("problem");
  expect(readFileSync(join(home, host.file), "utf8")).toBe(text);
  expect(existsSync(join(home, `${host.file}.before-subcrew`))).toBe(false);
});

test("Codex gets a table at the end of its file, and a missing file is made", async () => {
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

test("init offers the model of a local server that answers, makes an agent, and overwrites nothing", async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ data: [{ id: "small" }, { id: "large" }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const here = place();
  const env = { VLLM_BASE_URL: `http://127.0.0.1:${port}/v1` };
  const refused = await here.run(["init"], { env });
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("Add --yes") as string });
  const first = await here.run(["init", "--yes", "--json"], { env });
  const { done } = JSON.parse(first.stdout) as { done: readonly { about: string; file: string }[] };
  const fileOf = (about: string): string => readFileSync(done.find((each) => each.about === about)?.file ?? "", "utf8");
  expect(fileOf("settings")).toContain("model: vllm/small");
  expect(fileOf("agent")).toContain("name: helper");
  const again = await here.run(["init", "--yes"], { env });
  expect(again.stdout).toContain("(kept as it is)");
});
