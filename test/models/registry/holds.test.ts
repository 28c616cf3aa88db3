import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { KeptEvent } from "../../../src/core/run/event.ts";
import { isKept } from "../../../src/core/run/kept-event.ts";
import type { RunOptions } from "../../../src/crew/prepare/run-options.ts";
import { createCrew } from "../../../src/crew.ts";
import type { Crew } from "../../../src/crew/crew-type.ts";
import type { Run } from "../../../src/runtime/run/run.ts";
import { holdKey } from "../../../src/runtime/ledgers/provider-holds.ts";
import { type ProviderScript, type ProviderServer, startProviderServer } from "../../../src/testing/provider-server.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const KEY = "sk-not-a-key";

async function serve(script: ProviderScript): Promise<ProviderServer> {
  const server = await startProviderServer(script);
  onTestFinished(() => server.close());
  return server;
}

/** A crew with providers at these addresses, `local0` first. */
function crewAt(home: string, servers: readonly ProviderServer[], more: object = {}): Crew {
  const providers = Object.fromEntries(
    servers.map(({ url }, at) => [`local${at}`, { type: "openai", baseURL: `${url}/v1`, apiKey: KEY } as const]),
  );
  return createCrew({
    cwd: home,
    home,
    discover: false,
    env: {},
    providers,
    model: "local0/m",
    agents: [{ name: "worker", description: "Works.", instructions: "Work.", tools: [] }],
    ...more,
  });
}

const parks: RunOptions = { onProviderFault: "park" };
const one = { mode: "single", agent: "worker", task: "x" } as const;
const many = (n: number) =>
  ({ mode: "parallel", tasks: Array.from({ length: n }, (_, i) => ({ agent: "worker", task: `${i}` })) }) as const;

/** The first event of this type in a run. */
async function first(run: Run, type: KeptEvent["type"]): Promise<KeptEvent> {
  for await (const event of run) if (isKept(event) && event.type === type) return event;
  throw new Error(`${run.id} ended without ${type}`);
}

/** Follows a run in the background and counts its events. */
function counting(run: Run): Record<string, number> {
  const counts: Record<string, number> = {};
  void (async () => {
    for await (const event of run) counts[event.type] = (counts[event.type] ?? 0) + 1;
  })().catch(() => {});
  return counts;
}

test("sixty tasks with a refused key send no more requests than were already running, and all fail with that reason", async () => {
  const server = await serve(() => ({ fault: "unauthorized" }));
  const result = await crewAt(tempFolder(), [server]).run(many(60), { concurrency: 8 });
  expect(server.requests.length).toBeLessThanOrEqual(8);
  const faults = Object.values(result.nodes).flatMap((node) => ("fault" in node ? [node.fault.code] : []));
  expect(faults.filter((code) => code === "MODEL_AUTH")).toHaveLength(60);
});

test("sixty tasks that park on a refused key are all parked after the requests that were already running", async () => {
  const home = tempFolder();
  const server = await serve(() => ({ fault: "unauthorized" }));
  const run = crewAt(home, [server]).run(many(60), { ...parks, concurrency: 8 });
  const parked = new Set<string>();
  let probes = 0;
  for await (const event of run) {
    if (event.type === "node.parked") parked.add(event.path);
    if (event.type === "node.unparked") probes += 1;
    if (parked.size === 60) run.pause("seen");
  }
  expect(server.requests.length).toBeLessThanOrEqual(8 + probes);
  expect([...run.state.nodes.values()].filter((node) => node.parked?.waitsFor === "key")).toHaveLength(60);
  expect(probes).toBeLessThanOrEqual(1);
});

test("tasks that wait for a common prefix to be cached send no request when the first one is refused", async () => {
  const server = await serve(() => ({ fault: "unauthorized", delayMs: 300 }));
  const providers = { local0: { type: "anthropic", baseURL: server.url, apiKey: KEY } };
  const agents = [{ name: "worker", description: "Works.", instructions: "Work. ".repeat(2_000), tools: [] }];
  const crew = crewAt(tempFolder(), [server], { providers, agents });
  expect(await crew.run(many(40), { concurrency: 40 })).toMatchObject({ status: "failed" });
  expect(server.requests).toHaveLength(1);
});

test("the file that records a refused API key does not contain the key", async () => {
  const home = tempFolder();
  const server = await serve(() => ({ fault: "echo-key" }));
  await crewAt(home, [server]).run(one);
  const [name = ""] = readdirSync(join(home, "holds"));
  expect(`${name} ${readFileSync(join(home, "holds", name), "utf8")}`).not.toContain(KEY);
});

test("a refused key in one run also pauses another run, and both continue when the provider serves one task", async () => {
  const home = tempFolder();
  let open = false;
  const server = await serve(() => (open ? "done" : { fault: "unauthorized", retryAfter: "2" }));
  const crews = [crewAt(home, [server]), crewAt(home, [server])] as const;
  const a = crews[0].run(one, parks);
  await first(a, "node.parked");
  expect(server.requests).toHaveLength(1);
  const b = crews[1].run(many(5), parks);
  expect(await first(b, "node.parked")).toMatchObject({ waitsFor: "key", nextTry: expect.any(Number) });
  expect(server.requests).toHaveLength(1);
  open = true;
  expect(await a).toMatchObject({ status: "ok" });
  expect(await b).toMatchObject({ status: "ok" });
  expect(server.requests).toHaveLength(1 + 6);
  expect(readdirSync(join(home, "holds"))).toEqual([]);
});

test("after a 429 with Retry-After one task sends a test request, and the others wait for its result", async () => {
  const times: number[] = [];
  let until = 0;
  let limited = 0;
  const server = await serve((_request, n) => {
    times.push(Date.now());
    until ||= Date.now() + 1_000;
    if (n > 4) return n === 5 ? { text: "done", delayMs: 400 } : "done";
    limited += 1;
    return { fault: "rate-limit", retryAfter: "1" };
  });
  const run = crewAt(tempFolder(), [server]).run(many(12), { ...parks, concurrency: 4 });
  const counts = counting(run);
  expect(await run).toMatchObject({ status: "ok" });
  expect(limited).toBe(4);
  expect(server.requests).toHaveLength(4 + 12);
  const early = times.slice(4).filter((at) => at < until);
  expect(early).toEqual([]);
  // The probe took 400 ms: no other request was sent before it was answered.
  expect(times[5]! - times[4]!).toBeGreaterThanOrEqual(300);
  expect(counts["node.parked"]).toBeGreaterThanOrEqual(4);
});

test("without parking, a 429 with Retry-After also pauses all tasks, and one task sends a test request first", async () => {
  let limited = 0;
  const times: number[] = [];
  const server = await serve((_request, n) => {
    times.push(Date.now());
    if (n > 4) return n === 5 ? { text: "done", delayMs: 400 } : "done";
    limited += 1;
    return { fault: "rate-limit", retryAfter: "1" };
  });
  expect(await crewAt(tempFolder(), [server]).run(many(8), { concurrency: 4 })).toMatchObject({ status: "ok" });
  expect(server.requests).toHaveLength(4 + 8);
  expect(times[4]! - times[0]!).toBeGreaterThanOrEqual(990);
  expect(times[5]! - times[4]!).toBeGreaterThanOrEqual(300);
});

test.each(["broken", "unavailable", "rate-limit", "reset"] as const)(
  "without parking, no task fails because the requests of other tasks were refused: %s",
  async (fault) => {
    const server = await serve((_request, n) => (n <= 6 ? { fault } : "done"));
    const crews = [tempFolder()].flatMap((home) => [crewAt(home, [server]), crewAt(home, [server])]);
    const results = await Promise.all(crews.map((crew) => crew.run(many(20), { concurrency: 2 })));
    expect(results.map(({ status }) => status)).toEqual(["ok", "ok"]);
  },
);

test("a model whose provider asks for a long wait fails its tasks at once, and not those of another model", async () => {
  const home = tempFolder();
  const server = await serve(({ model }) => (model === "big" ? { fault: "rate-limit", retryAfter: "1800" } : "done"));
  const crew = crewAt(home, [server]);
  const run = crew.run({ ...many(9), model: "local0/big" }, { concurrency: 3 });
  const faults = Object.values((await run).nodes).flatMap((node) => ("fault" in node ? [node.fault] : []));
  expect(faults.filter(({ message }) => message.includes("asks to wait until"))).toHaveLength(9);
  expect(faults.filter(({ message }) => message.endsWith("No request was sent."))).toHaveLength(6);
  expect(server.requests).toHaveLength(3);
  expect(await crewAt(home, [server]).run({ ...many(9), model: "local0/small" })).toMatchObject({ status: "ok" });

  const later = await crewAt(home, [server]).run({ ...one, model: "local0/big" });
  expect(later).toMatchObject({
    status: "failed",
    fault: { message: expect.stringContaining("No request was sent.") },
  });
  expect(server.requests).toHaveLength(3 + 9);
  const again = crew.resume(run.id, { retryFailed: true });
  expect(await again).toMatchObject({ status: "failed" });
  expect(server.requests).toHaveLength(3 + 9 + 1);
});

test("tasks park while their provider is down, and continue when it answers", async () => {
  let down = 2;
  const server = await serve(() => ((down -= 1) >= 0 ? { fault: "unavailable", retryAfter: "1" } : "done"));
  const run = crewAt(tempFolder(), [server]).run(one, parks);
  const parked = await first(run, "node.parked");
  expect(parked).toMatchObject({ waitsFor: "provider" });
  expect(await run).toMatchObject({ status: "ok", usage: { turns: 1 } });
});

test("a fallback model is tried before a task parks", async () => {
  const refusing = await serve(() => ({ fault: "unauthorized" }));
  const serving = await serve(() => "done");
  const crew = crewAt(tempFolder(), [refusing, serving]);
  const run = crew.run({ ...one, model: ["local0/m", "local1/m"] }, parks);
  const counts = counting(run);
  expect(await run).toMatchObject({ status: "ok" });
  expect(counts["node.parked"]).toBeUndefined();
  expect(refusing.requests).toHaveLength(1);
});

test("when a model is overloaded, another model of the same key is tried", async () => {
  const server = await serve(({ model }) => (model === "big" ? { fault: "unavailable", retryAfter: "1" } : "done"));
  const run = crewAt(tempFolder(), [server]).run({ ...one, model: ["local0/big", "local0/small"] }, parks);
  expect(await run).toMatchObject({ status: "ok" });
});

test("when no model is available, the task parks, and the first model that is available again is used", async () => {
  let open = false;
  const a = await serve(() => ({ fault: "no-credit" }));
  const b = await serve(() => (open ? "done" : { fault: "unauthorized", retryAfter: "1" }));
  const run = crewAt(tempFolder(), [a, b]).run({ ...one, model: ["local0/m", "local1/m"] }, parks);
  await first(run, "node.parked");
  open = true;
  expect(await run).toMatchObject({ status: "ok", output: "done" });
});

test("a new run that does not park sends one request, whatever was recorded by other runs", async () => {
  const home = tempFolder();
  let open = false;
  const server = await serve(() => (open ? "done" : { fault: "no-credit" }));
  expect(await crewAt(home, [server]).run(many(9), { concurrency: 3 })).toMatchObject({ status: "failed" });
  const before = server.requests.length;
  expect(await crewAt(home, [server]).run(many(9), { concurrency: 3 })).toMatchObject({ status: "failed" });
  expect(server.requests.length - before).toBe(1);
  open = true;
  expect(await crewAt(home, [server]).run(many(9), { concurrency: 3 })).toMatchObject({ status: "ok" });
});

test("a resumed run sends a request at once, whatever wait the provider demanded", async () => {
  const home = tempFolder();
  let open = false;
  const server = await serve(() => (open ? "done" : { fault: "rate-limit", retryAfter: "3600" }));
  const run = crewAt(home, [server]).run(many(3), parks);
  const parked = await first(run, "node.parked");
  expect(parked).toMatchObject({ waitsFor: "quota", until: expect.any(Number) });
  run.pause("seen");
  await run;
  const before = server.requests.length;

  const still = crewAt(home, [server]).resume(run.id);
  let again = 0;
  for await (const event of still) {
    if (isKept(event) && event.seq > run.state.seq && event.type === "node.parked") again += 1;
    if (again === 3) still.pause("still parked");
  }
  expect(server.requests.length - before).toBe(1);
  open = true;
  expect(await crewAt(home, [server]).resume(run.id)).toMatchObject({ status: "ok" });
  expect(server.requests.length - before).toBe(1 + 3);
});

test("a test request whose process died does not prevent other requests", async () => {
  const home = tempFolder();
  let open = false;
  const server = await serve(() => (open ? "done" : { fault: "rate-limit", retryAfter: "1" }));
  const crew = crewAt(home, [server]);
  const key = holdKey(`${server.url}/v1`, KEY, {}, "m");
  mkdirSync(join(home, "holds"));
  writeFileSync(join(home, "holds", `${key}.probe`), JSON.stringify({ pid: 999_999_999, started: "1", nonce: "x" }));
  const run = crew.run(one, parks);
  await first(run, "node.parked");
  open = true;
  expect(await run).toMatchObject({ status: "ok" });
});

test.each([
  ["not JSON", "{"],
  ["from another kind of file", `{"kind":"strange"}`],
  ["for ever", JSON.stringify({ ...JSON.parse(holdText(0)), probeAt: 9e15 })],
  ["from the future", JSON.stringify({ ...JSON.parse(holdText(0)), seen: 9e15 })],
])("a recorded pause of a provider (hold) that is %s has no effect", async (_, text) => {
  const home = tempFolder();
  const server = await serve(() => "done");
  mkdirSync(join(home, "holds"));
  writeFileSync(join(home, "holds", `${holdKey(`${server.url}/v1`, KEY, {})}.json`), text);
  expect(await crewAt(home, [server]).run(one, parks)).toMatchObject({ status: "ok" });
});

function holdText(inMs: number): string {
  const fault = { code: "MODEL_AUTH", message: "401", retryable: false };
  const now = Date.now();
  return JSON.stringify({ kind: "key", fault, seen: now, tries: 1, probeAt: now + inMs });
}

test("a valid hold of an hour applies to a run that parks, and not to another key", async () => {
  const home = tempFolder();
  const server = await serve(() => "done");
  mkdirSync(join(home, "holds"));
  writeFileSync(join(home, "holds", `${holdKey(`${server.url}/v1`, KEY, {})}.json`), holdText(3_600_000));
  const run = crewAt(home, [server]).run(one, parks);
  await first(run, "node.parked");
  expect(server.requests).toHaveLength(0);
  run.cancel();
  const other = { local0: { type: "openai", baseURL: `${server.url}/v1`, apiKey: "sk-another" } };
  expect(await crewAt(home, [server], { providers: other }).run(one, parks)).toMatchObject({ status: "ok" });
});

test("without a state folder, a hold applies to the tasks of its own run", async () => {
  const server = await serve(() => ({ fault: "unauthorized" }));
  const crew = crewAt(tempFolder(), [server], { home: false });
  expect(await crew.run(many(30), { concurrency: 4 })).toMatchObject({ status: "failed" });
  expect(server.requests.length).toBeLessThanOrEqual(4);
});
