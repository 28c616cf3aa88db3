import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ProviderServer, startProviderServer } from "../../src/testing/provider-server.ts";
import type { Need } from "../needs.ts";
import { command } from "../processes/command.ts";
import { realTool } from "./tool-cache.ts";
import { withoutBlanks } from "./without-blanks.ts";

/*
 * The official conformance suite of the protocol, against the real command. docs/mcp.md lists the scenarios that are not here, with
 * the reason: most need a server with tools, prompts or resources that exist only for the suite.
 */

const SERVER = [
  ...["server-initialize", "ping", "tools-list", "tools-call-simple-text", "tools-call-error"],
  ...["tools-call-with-progress", "tools-call-elicitation", "server-sse-multiple-streams", "resources-list"],
  ...["prompts-list", "prompts-get-simple", "prompts-get-with-args", "dns-rebinding-protection"],
];
const CLIENT = [
  ...["initialize", "tools_call", "sse-retry"],
  ...["metadata-default", "metadata-var1", "metadata-var2", "metadata-var3"].map((name) => `auth/${name}`),
  ...["scope-from-www-authenticate", "scope-from-scopes-supported", "scope-omitted-when-undefined"].map(
    (name) => `auth/${name}`,
  ),
  ...["scope-step-up", "scope-retry-limit"].map((name) => `auth/${name}`),
  ...["auth-basic", "auth-post", "auth-none"].map((name) => `auth/token-endpoint-${name}`),
  ...["pre-registration", "2025-03-26-oauth-metadata-backcompat", "2025-03-26-oauth-endpoint-fallback"].map(
    (name) => `auth/${name}`,
  ),
  ...["resource-mismatch", "offline-access-scope", "offline-access-not-supported"].map((name) => `auth/${name}`),
  ...["client-credentials-jwt", "client-credentials-basic"].map((name) => `auth/${name}`),
];

let suite: Need;
let node: Need;
let provider: ProviderServer;
beforeAll(async () => {
  [suite, node] = [await realTool("conformance"), await realTool("node")];
  provider = await startProviderServer(({ body }) => {
    const text = JSON.stringify(body);
    const names = ((body["tools"] ?? []) as { name: string }[]).map(({ name }) => name);
    const theirs = names.filter((name) => name.startsWith("mcp__suite__"));
    if (text.includes("tool_result")) return "It is done.";
    if (text.includes("Please provide your information"))
      return { calls: [{ name: "ask_user", input: { question: "Who are you?" } }] };
    return theirs.length === 0
      ? "This is a simple text response for testing."
      : { calls: theirs.map((name) => ({ name, input: { a: 5, b: 3 } })) };
  });
}, 300_000);
afterAll(() => provider?.close());

const pathOf = (need: Need): string => ("path" in need ? need.path : "");

/** Runs the suite with the Node version that it needs, which is newer than the oldest that we support. */
function conformance(args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const env = { ...process.env, SUBCREW_COMMAND: command, PROVIDER_URL: provider.url };
    const [program, script] = [join(pathOf(node), "node"), join(pathOf(suite), "conformance")];
    execFile(program, [script, ...args], { env, timeout: 600_000 }, (_, stdout, stderr) =>
      resolve(`${stdout}${stderr}`),
    );
  });
}

/** The suite prints how many of its checks passed. */
function expectPassed(said: string): void {
  const counts = /Passed: (\d+)\/(\d+), (\d+) failed/.exec(said);
  expect(counts?.[3], said.slice(-6_000)).toBe("0");
  expect(Number(counts?.[1]), said.slice(-6_000)).toBeGreaterThan(0);
}

describe("as a client", () => {
  test.concurrent.for(CLIENT)("subcrew passes %s", async (scenario, ctx) => {
    const missing = suite.missing ?? node.missing;
    if (missing !== undefined) return ctx.skip(missing);
    const driver = `${process.execPath} ${withoutBlanks(join(import.meta.dirname, "conformance-client.mjs"))}`;
    expectPassed(await conformance(["client", "--command", driver, "--scenario", scenario, "--timeout", "300000"]));
  });
});

describe("as a server", () => {
  let url = "";
  const ends: (() => void)[] = [];
  beforeAll(async () => {
    const token = "0123456789abcdef0123456789abcdef";
    const inputs = (required: boolean): string =>
      `inputs:\n  message: { type: string, required: ${required}, description: What to say. }\n`;
    // The suite calls this tool without arguments and expects an error.
    const agent = (name: string): [string, string] => [
      `.subcrew/agents/${name}.md`,
      `---\nname: ${name}\ndescription: Answers.\nmodel: anthropic/claude-sonnet-4-5\n${inputs(name === "test_error_handling")}---\nAnswer: {message}\n`,
    ];
    const root = mkdtempSync(join(tmpdir(), "subcrew-conformance-"));
    ends.push(() => rmSync(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }));
    const [cwd, home] = [join(root, "project"), join(root, "home")];
    mkdirSync(home);
    const files: Readonly<Record<string, string>> = {
      ...Object.fromEntries(
        ["test_simple_text", "test_tool_with_progress", "test_elicitation", "test_error_handling"].map(agent),
      ),
      ".claude/commands/test_simple_prompt.md": "This is a simple prompt for testing.\n",
      ".claude/commands/test_prompt_with_arguments.md":
        "---\ndescription: With arguments.\nargument-hint: <arg1> <arg2>\n---\nPrompt with arguments: '$1', '$2'\n",
    };
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(cwd, name)), { recursive: true });
      writeFileSync(join(cwd, name), text);
    }
    const tokenFile = join(home, "token");
    writeFileSync(tokenFile, token, { mode: 0o600 });
    const args = ["mcp", "--http", "--token-file", tokenFile, "--trust", "--as", "agents"];
    const child = spawn(process.execPath, [command, ...args], {
      cwd,
      env: {
        PATH: process.env["PATH"],
        HOME: home,
        ANTHROPIC_API_KEY: "not-a-key-at-all",
        ANTHROPIC_BASE_URL: provider.url,
      },
      stdio: ["ignore", "ignore", "pipe"],
    });
    ends.push(() => void child.kill());
    const ours = await new Promise<string>((resolve) => {
      let said = "";
      child.stderr.on("data", (chunk: Buffer) => {
        said += chunk.toString();
        const found = /mcp\s+(http\S+)\/mcp/.exec(said)?.[1];
        if (found !== undefined) resolve(found);
      });
    });
    const front = await withToken(ours, token);
    ends.push(() => void front.close());
    url = `http://localhost:${(front.address() as AddressInfo).port}/mcp`;
  }, 60_000);
  afterAll(() => {
    for (const end of ends) end();
  });

  test.for(SERVER)("subcrew passes %s", async (scenario, ctx) => {
    const missing = suite.missing ?? node.missing;
    if (missing !== undefined) return ctx.skip(missing);
    expectPassed(await conformance(["server", "--url", url, "--scenario", scenario]));
  });
});

/** The suite sends no token: this proxy adds ours, and passes everything else on unchanged. */
async function withToken(target: string, token: string): Promise<Server> {
  const { hostname, port } = new URL(target);
  const server = createServer((asked, answer) => {
    const own = String((server.address() as AddressInfo).port);
    const same = (value: string | undefined): string | undefined => value?.replace(`:${own}`, `:${port}`);
    const { host, origin, ...headers } = asked.headers;
    const names = { host: same(host), ...(origin !== undefined && { origin: same(origin) }) };
    const forwarded = request(
      {
        hostname,
        port,
        path: asked.url,
        method: asked.method,
        headers: { ...headers, ...names, authorization: `Bearer ${token}` },
      },
      (got) => {
        answer.writeHead(got.statusCode ?? 502, got.headers);
        got.pipe(answer);
      },
    );
    forwarded.on("error", () => answer.destroy());
    asked.pipe(forwarded);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return server;
}
