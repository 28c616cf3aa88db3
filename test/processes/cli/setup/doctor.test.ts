import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { startProviderServer } from "../../../../src/testing/provider-server.ts";
import { needs } from "../../../needs.ts";
import { place } from "../../command.ts";

type Finding = { state: string; about: string; text: string; fix?: string };
const close: (() => void)[] = [];
afterEach(() => {
  for (const each of close.splice(0)) each();
});

/** A model server that lists its models for requests with the right key. */
async function modelServer(key?: string): Promise<string> {
  const server = createServer((request, response) => {
    const isAllowed = key === undefined || request.headers.authorization === `Bearer ${key}`;
    response.writeHead(isAllowed ? 200 : 401, { "content-type": "application/json" });
    response.end(JSON.stringify(isAllowed ? { data: [{ id: "small" }, { id: "large" }] } : { error: "no" }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  close.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

async function findings(
  env: Readonly<Record<string, string>>,
  settings?: string,
): Promise<{ code: number | null; ok: boolean; all: readonly Finding[] }> {
  const here = place();
  const state = here.env["SUBCREW_HOME"] ?? "";
  mkdirSync(state, { mode: 0o700 });
  if (settings !== undefined) writeFileSync(join(state, "config.yaml"), settings);
  const { stdout, code } = await here.run(["doctor", "--json"], { env });
  const { ok, findings: all } = JSON.parse(stdout) as { ok: boolean; findings: readonly Finding[] };
  return { code, ok, all };
}

describe("doctor", () => {
  test("without a key nothing is broken, and a note names the offline model with a fix", async () => {
    const { code, ok, all } = await findings({});
    expect({ code, ok }).toEqual({ code: 0, ok: true });
    expect(all.find(({ about }) => about === "model")).toMatchObject({
      state: "note",
      fix: expect.stringContaining("key"),
    });
    expect(all.map(({ about }) => about)).toEqual(
      expect.arrayContaining(["node", "settings", "agents", "runs", "state", "sandbox", "git", "search"]),
    );
  });

  test("doctor names a model whose provider asks to wait, and until when", async () => {
    const server = await startProviderServer(() => ({ fault: "rate-limit", retryAfter: "7200" }));
    close.push(() => void server.close());
    const here = place();
    const env = { OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: "key" };
    const ask = ["run", "explore", "What is here?", "--model", "openai/gpt-5.2"];
    expect(await here.run(ask, { env })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("asks to wait until"),
    });
    const later = await here.run(ask, { env });
    expect(later.stderr).toMatch(/asks to wait until \d{4}-.*Z\. No request was sent\.[^]*resume RUN --retry-failed/);
    expect(server.requests).toHaveLength(1);
    const { findings: all } = JSON.parse((await here.run(["doctor", "--json"])).stdout) as { findings: Finding[] };
    const named = all.find(({ text }) => text.startsWith("no requests are sent to openai/gpt-5.2 until"));
    const inMs = Date.parse(/until (\S+):/.exec(named?.text ?? "")?.[1] ?? "") - Date.now();
    expect(inMs).toBeGreaterThan(3_500_000);
    expect(inMs).toBeLessThanOrEqual(3_600_000);
  });

  test("doctor requests the models of a provider that accepts the key", async () => {
    const url = await modelServer("right");
    const { all } = await findings({ GROQ_BASE_URL: url, GROQ_API_KEY: "right" });
    expect(all.find(({ text }) => text.startsWith("groq"))).toMatchObject({
      state: "ok",
      text: expect.stringContaining("2 models"),
    });
  });

  test("a refused key is reported as broken, and the exit code is 1", async () => {
    const url = await modelServer("right");
    const { code, ok, all } = await findings({ GROQ_BASE_URL: url, GROQ_API_KEY: "wrong" });
    expect({ code, ok }).toEqual({ code: 1, ok: false });
    expect(all.find(({ text }) => text.startsWith("groq"))).toMatchObject({
      state: "broken",
      fix: expect.stringContaining("key"),
    });
  });

  test("a local model server that answers is listed, others are not", async () => {
    const url = await modelServer();
    const { all } = await findings({ LMSTUDIO_BASE_URL: url, VLLM_BASE_URL: "http://127.0.0.1:9/v1" });
    expect(all.filter(({ about }) => about === "provider").map(({ text }) => text.split(" ")[0])).toEqual(["lmstudio"]);
  });

  test("invalid settings do not hide the other checks", async () => {
    const { code, all } = await findings({}, "modle: x\n");
    expect(code).toBe(1);
    expect(all.find(({ about }) => about === "settings")).toMatchObject({ state: "broken" });
    expect(all.some(({ about, state }) => about === "node" && state === "ok")).toBe(true);
  });

  test("an MCP server whose program is missing is reported as broken; a server that is switched off is not", async () => {
    const { all } = await findings(
      {},
      "mcpServers:\n  gone:\n    command: no-such-program-here\n  off:\n    command: no-such-program-here\n    enabled: false\n",
    );
    expect(all.filter(({ about }) => about === "mcp").map(({ state }) => state)).toEqual(["broken", "ok"]);
  });

  test("models distinguishes servers that answer from those that do not", async () => {
    const url = await modelServer();
    const { stdout } = await place().run(["models"], {
      env: { LMSTUDIO_BASE_URL: url, VLLM_BASE_URL: "http://127.0.0.1:9/v1" },
    });
    expect(stdout).toMatch(/lmstudio +ready +2 models/);
    expect(stdout).toMatch(/vllm +no answer/);
  });
});

test("what a killed command left is moved to quarantine and named once", { timeout: 120_000 }, async ({ skip }) => {
  const bwrap = await needs("bwrap");
  if (bwrap.missing !== undefined) return skip(bwrap.missing);
  const call = { name: "bash", input: { command: "mkdir -p x/.git && touch made && sleep 1000" } };
  const here = place({ "turns.json": JSON.stringify([{ calls: [call] }, "done"]) });
  const run = here.start(["run", "bash", "x", "--permission-mode", "bypass", "--model", "scripted:turns.json"]);
  await expect.poll(() => existsSync(join(here.workspace, "made"))).toBe(true);
  run.child.kill("SIGKILL");
  await run.ended;
  const about = async (): Promise<readonly Finding[]> => {
    const { stdout } = await here.run(["doctor", "--json"]);
    const { findings: all } = JSON.parse(stdout) as { findings: readonly Finding[] };
    return all.filter((each) => each.about === "quarantine");
  };
  const records = join(here.env["SUBCREW_HOME"]!, "commands-in-flight");
  let named: readonly Finding[] = [];
  await expect.poll(async () => (named = await about())).toHaveLength(1);
  expect(named[0]).toMatchObject({ state: "note", text: expect.stringContaining('"x/.git"') as string });
  expect(existsSync(join(here.workspace, "x/.git"))).toBe(false);
  expect(readdirSync(records)).toEqual([]);
  expect(await about()).toEqual([]);
});
