import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { type Place, place, type Started } from "../../command.ts";

const worker = "---\nname: worker\ndescription: works\nmodel: scripted:turns.json\n---\nWork.\n";

type Served = Readonly<{ url: string; cards: string[]; started: Started }>;

async function serve(there: Place, ...args: string[]): Promise<Served> {
  const started = there.start(["a2a", "--agents", "worker", "--trust", "--token-file", "tokens", "--json", ...args]);
  let printed = "";
  started.child.stdout.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  await started.until(/\n/);
  return { ...(JSON.parse(printed) as { url: string; cards: string[] }), started };
}

const ask = async (
  url: string,
  token: string,
  method: string,
  params: object,
): Promise<{ result: Record<string, unknown> }> => {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  return (await (await fetch(`${url}/worker`, { method: "POST", headers, body })).json()) as {
    result: Record<string, unknown>;
  };
};
const message = (text: string): object => ({
  message: { kind: "message", messageId: "m", role: "user", parts: [{ kind: "text", text }] },
});

test("subcrew a2a serves agents; a task that was running when the server was killed continues with the next server", async () => {
  const there = place({
    ".subcrew/agents/worker.md": worker,
    "turns.json": JSON.stringify([{ text: "never", delayMs: 600_000 }]),
  });
  const first = await serve(there);
  const file = join(there.workspace, "tokens");
  const token = readFileSync(file, "utf8").trim();
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect((await fetch(first.cards[0]!)).status).toBe(401);
  const begun = await ask(first.url, token, "message/send", {
    ...message("hello"),
    configuration: { blocking: false },
  });
  const id = String(begun.result["id"]);
  await vi.waitFor(
    () => expect(existsSync(join(there.home, "state", "runs", id, "journal.jsonl"))).toBe(true),
    120_000,
  );
  expect((await there.run(["ps", "--json"])).stdout).toContain(id);
  first.started.child.kill("SIGKILL");
  await first.started.ended;

  writeFileSync(join(there.workspace, "turns.json"), JSON.stringify(["hello yourself"]));
  const second = await serve(there);
  await vi.waitFor(async () => {
    const { result } = await ask(second.url, token, "tasks/get", { id });
    expect(result).toMatchObject({
      status: { state: "completed" },
      artifacts: [{ parts: [{ text: "hello yourself" }] }],
    });
  }, 120_000);
  expect((await there.run(["result", id])).stdout).toContain("hello yourself");
  second.started.child.kill("SIGTERM");
  expect((await second.started.ended).code).toBe(143);
});

test.each([
  ["no agent named", [], "No agent given"],
  ["an unknown name", ["--agents", "nobody"], 'Unknown agent "nobody"'],
  ["an address of another machine", ["--agents", "explore", "--host", "203.0.113.1"], "Cannot listen on 203.0.113.1"],
])("subcrew a2a with %s is refused, and nothing is served", async (_, args, words) => {
  const { code, stderr } = await place().run(["a2a", ...args]);
  expect(code).toBe(2);
  expect(stderr).toContain(words);
});

test("a remote agent in a file is listed as remote, and explained without its secret", async () => {
  const there = place();
  const remote =
    "---\nkind: remote\nname: far\ndescription: far away\nagent_card_url: https://example.com/card.json\nauth:\n  type: apiKey\n  key: do-not-show-this-key\n---\n";
  const files = place({ ".gemini/agents/far.md": remote });
  const [listed, explained] = await Promise.all([
    there.run(["agents", "--trust"], { cwd: files.workspace }),
    there.run(["agents", "explain", "far", "--trust"], { cwd: files.workspace }),
  ]);
  expect(listed.stdout).toMatch(/^far +project gemini +remote +its own +far away$/m);
  expect(explained.stdout).toContain("remote agent");
  expect(explained.stdout).not.toContain("do-not-show-this-key");
});
