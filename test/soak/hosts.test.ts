import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type SetupName, setupSteps } from "../../src/mcp/setup.ts";
import { type ProviderServer, startProviderServer } from "../../src/testing/provider-server.ts";
import { command } from "../processes/command.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { realTool, toolHome } from "./tool-cache.ts";

/*
 * The real hosts, against a provider on this machine: each reads the configuration that `subcrew mcp --setup` prints, starts our
 * server, and its model calls `run`. The agent uses the same provider, with a key that it can only have from the configuration.
 */

const KEY = "not-a-key-at-all";

type Host = Readonly<{
  setup: SetupName;
  /** The file for the configuration, and other files or content that the host needs. */
  file: string;
  before?(url: string): string;
  home?(url: string): Record<string, string>;
  env(url: string): Record<string, string>;
  args: readonly string[];
  /** The host's name for our tool `run`. */
  tool: RegExp;
}>;

const hosts: Readonly<Record<string, Host>> = {
  codex: {
    setup: "codex",
    file: ".codex/config.toml",
    before: (url) =>
      `model = "gpt-5"\nmodel_provider = "here"\n[model_providers.here]\nname = "here"\nbase_url = "${url}/v1"\nwire_api = "responses"\nenv_key = "OPENAI_API_KEY"\n`,
    env: () => ({ OPENAI_API_KEY: KEY }),
    args: ["exec", "--skip-git-repo-check", "Ask the agent explore."],
    tool: /subcrew.*run$|^run$/,
  },
  gemini: {
    setup: "gemini",
    file: ".gemini/settings.json",
    env: (url) => ({ GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: url, GEMINI_CLI_TRUST_WORKSPACE: "true" }),
    args: ["--approval-mode", "yolo", "-m", "gemini-2.5-pro", "-p", "Ask the agent explore."],
    tool: /subcrew.*run$/,
  },
  claude: {
    setup: "claude-code",
    file: "mcp.json",
    // On a busy machine Claude Code began before our server was connected, and had none of its tools.
    env: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: KEY, MCP_CONNECT_TIMEOUT_MS: "120000" }),
    args: ["-p", "Ask the agent explore.", "--mcp-config", "mcp.json", "--allowedTools", "mcp__subcrew"],
    tool: /^mcp__subcrew__run$/,
  },
  opencode: {
    setup: "opencode",
    file: ".config/opencode/opencode.json",
    env: () => ({ ANTHROPIC_API_KEY: KEY }),
    args: ["run", "Ask the agent explore."],
    tool: /^subcrew_run$/,
  },
};

/** What a host needs in the same file as the server. */
const beside: Readonly<Record<string, (url: string) => object>> = {
  gemini: () => ({ security: { auth: { selectedType: "gemini-api-key" } } }),
  opencode: (url) => ({
    model: "anthropic/claude-sonnet-4-5",
    provider: { anthropic: { options: { baseURL: `${url}/v1` } } },
  }),
};

let server: ProviderServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

test.for(Object.keys(hosts))("the real %s runs an agent with the configuration of --setup", async (name, ctx) => {
  const need = await realTool(name);
  if (need.missing !== undefined) return ctx.skip(need.missing);
  const { setup, file, before, env, args, tool } = hosts[name]!;
  const results: string[] = [];
  let called = false;
  server = await startProviderServer(({ body }) => {
    const text = JSON.stringify(body);
    const ours = toolNames(body).find((each) => tool.test(each));
    if (ours === undefined) return text.includes("Where is the answer?") ? "It is 42, says the agent." : "A title.";
    if (called) {
      results.push(text);
      return "Done.";
    }
    called = true;
    return { text: "I ask.", calls: [{ ...named(ours), input: { agent: "explore", task: "Where is the answer?" } }] };
  });
  const variables = ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"];
  const lines = setupSteps(setup, variables).find(({ text }) => /^[{[][^]*(?:mcp_?servers|"mcp")/i.test(text))!.text;
  const content = file.endsWith(".toml")
    ? `${before?.(server.url) ?? ""}${lines}\n`
    : JSON.stringify({ ...(JSON.parse(lines) as object), ...beside[name]?.(server.url) });
  const cwd = tempFolder({ "notes.txt": "the answer is 42\n" });
  const home = toolHome(`${name}-host`, { [file]: content });
  if (file === "mcp.json") writeFileSync(join(cwd, file), content);
  const bin = join(home, "bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "subcrew"), `#!/bin/sh\nexec "${process.execPath}" "${command}" "$@"\n`);
  chmodSync(join(bin, "subcrew"), 0o755);
  const child = spawn(join(need.path, name), args, {
    cwd,
    env: {
      ANTHROPIC_API_KEY: KEY,
      ANTHROPIC_BASE_URL: server.url,
      ...env(server.url),
      HOME: home,
      PATH: `${bin}:${need.path}:${dirname(process.execPath)}:/usr/bin:/bin`,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  await new Promise((resolve) => child.once("close", resolve));
  expect(results.join("\n"), said.slice(-2_000)).toContain("It is 42, says the agent.");
  expect(results.join("\n")).not.toContain("offline model");
});

/** Codex has its tools in groups; the name of the group is before a slash here. */
function named(tool: string): { name: string; namespace?: string } {
  const [namespace, name] = tool.split("/");
  return name === undefined ? { name: tool } : { name, namespace: namespace! };
}

function toolNames(body: Readonly<Record<string, unknown>>): string[] {
  const tools = (Array.isArray(body["tools"]) ? body["tools"] : []) as {
    name?: string;
    type?: string;
    tools?: { name: string }[];
    function?: { name: string };
    functionDeclarations?: { name: string }[];
  }[];
  return tools.flatMap(
    (each) =>
      each.functionDeclarations?.map(({ name }) => name) ??
      each.tools?.map(({ name }) => `${each.name ?? ""}/${name}`) ??
      each.function?.name ??
      each.name ??
      [],
  );
}
