import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Event } from "../../../../src/index.ts";
import type { ProviderServer } from "../../../../src/testing/provider-server.ts";
import { provider } from "../../../support/talk.ts";
import { tempFolder } from "../../../support/temp-folder.ts";
import { createCrew } from "../../runners/lab.ts";

const KEY = "sk-test-0123456789abcdefghij";
const at = (server: ProviderServer, key: string | undefined): Readonly<Record<string, string>> => ({
  OPENAI_BASE_URL: server.env["OPENAI_BASE_URL"]!,
  ...(key !== undefined && { OPENAI_API_KEY: key }),
  PATH: "/usr/bin:/bin",
});

/** Starts a run at one address and pauses it during its first turn. */
async function paused(home: string, env: Readonly<Record<string, string>>, input: object = {}): Promise<string> {
  const run = createCrew({ cwd: home, home, discover: false, env }).run({
    mode: "single",
    task: "Go.",
    model: "openai/gpt-5.2",
    ...input,
  });
  for await (const event of run) if (event.type === "turn.started") run.pause("enough");
  return run.id;
}

/** A provider that delays its first run, and answers when told to. */
async function slow(): Promise<ProviderServer & { answer(): void }> {
  let isReady = false;
  const server = await provider(() => (isReady ? "from the old address" : { text: "late", delayMs: 600_000 }));
  return Object.assign(server, { answer: () => void (isReady = true) });
}

async function resumed(
  home: string,
  env: Readonly<Record<string, string>>,
  id: string,
): Promise<{ status: string; output?: string; warnings: string[] }> {
  const run = createCrew({ cwd: home, home, discover: false, env }).resume(id);
  const warnings: string[] = [];
  for await (const event of run as AsyncIterable<Event>)
    if (event.type === "warning" && event.code === "SETTINGS_CHANGED") warnings.push(event.text);
  const { status, output } = await run;
  return { status, ...(output !== undefined && { output }), warnings };
}

describe("a run that is resumed where its provider has another address", () => {
  for (const runner of ["local", "process"] as const)
    test(`uses the recorded address with the same key, and names the difference (${runner})`, async () => {
      const home = tempFolder();
      const old = await slow();
      const id = await paused(home, at(old, KEY), { runner });
      old.answer();
      const other = await provider(["from the new address"]);
      const { status, output, warnings } = await resumed(home, at(other, KEY), id);
      expect([status, output, other.requests.length]).toEqual(["ok", "from the old address", 0]);
      expect(warnings).toEqual([
        expect.stringMatching(/^The address of openai was http:.* and is http:.* now; the run continues with http:/),
      ]);
    });

  test("is refused with another key, before anything is sent to either address", async () => {
    const home = tempFolder();
    const old = await slow();
    const id = await paused(home, at(old, KEY));
    const other = await provider(["from the new address"]);
    const before = old.requests.length;
    await expect(resumed(home, at(other, `${KEY}x`), id)).rejects.toMatchObject({
      message: expect.stringMatching(
        /the address of the provider was http:.* when the run began and is .* now, and the key has changed/,
      ),
      hint: expect.stringContaining("Set OPENAI_BASE_URL to"),
    });
    await expect(resumed(home, at(other, undefined), id)).rejects.toMatchObject({ code: "MISSING_KEY" });
    expect([old.requests.length, other.requests.length]).toEqual([before, 0]);
  });

  test("uses another key at the same address, because keys are renewed", async () => {
    const home = tempFolder();
    const old = await slow();
    const id = await paused(home, at(old, KEY));
    old.answer();
    expect(await resumed(home, at(old, `${KEY}x`), id)).toEqual({
      status: "ok",
      output: "from the old address",
      warnings: [],
    });
  });

  test("ignores the address of a provider that it does not use", async () => {
    const home = tempFolder();
    const old = await slow();
    const more = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: "http://127.0.0.1:9/a" };
    const id = await paused(home, { ...at(old, KEY), ...more });
    old.answer();
    const moved = { ANTHROPIC_API_KEY: "another-key-000000000000", ANTHROPIC_BASE_URL: "http://127.0.0.1:9/b" };
    const { status, warnings } = await resumed(home, { ...at(old, KEY), ...moved }, id);
    expect([status, warnings]).toEqual(["ok", []]);
  });
});

test("a journal contains the address without a password, and neither a key nor a digest of the key alone", async () => {
  const home = tempFolder();
  const old = await slow();
  const id = await paused(home, at(old, KEY));
  const folder = join(home, "runs", id);
  const all = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => existsSync(join(folder, name)) && name.endsWith("jsonl"))
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("");
  expect(all).toContain(`"openai":{"address":"${old.env["OPENAI_BASE_URL"]}`);
  expect(all).not.toContain(KEY);
});
