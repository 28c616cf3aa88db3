import { afterEach, beforeAll, expect, onTestFinished, test } from "vitest";
import {
  type ProviderScript,
  type ProviderServer,
  startProviderServer,
} from "../../../../src/testing/provider-server.ts";
import { type Need, needs, needsTimeout } from "../../../needs.ts";
import { type Place, place } from "../../command.ts";
import { type Terminal, terminal } from "../../terminal.ts";

let tmux: Need;
beforeAll(async () => {
  tmux = await needs("tmux");
}, needsTimeout);

let open: Terminal | undefined;
afterEach(() => {
  open?.close();
  open = undefined;
});

async function serve(script: ProviderScript): Promise<ProviderServer> {
  const server = await startProviderServer(script);
  onTestFinished(() => server.close());
  return server;
}

const on = ({ env }: ProviderServer): Record<string, string> => ({ ...env, SUBCREW_MODEL: "anthropic/claude-x" });
const quota = { fault: "rate-limit", retryAfter: "600" } as const;

/** Starts a run in the background that parks, and returns its id. */
async function parked({ run }: Place, env: Record<string, string>, ...flags: readonly string[]): Promise<string> {
  const { stdout } = await run(["run", "explore", "hi", "--bg", "--quiet", ...flags], { env });
  const id = stdout.trim();
  expect((await run(["wait", id, "--until", "parked", "--timeout", "60s"])).code).toBe(1);
  return id;
}

test("a background run parks on a quota; every command shows it, and resume continues it", async () => {
  let served = false;
  const server = await serve(() => (served ? "Hello." : quota));
  const here = place();
  const id = await parked(here, on(server));
  const facts = JSON.parse((await here.run(["status", id, "--json"])).stdout) as object;
  expect(facts).toMatchObject({
    status: "parked",
    parked: { waitsFor: "quota", until: expect.any(Number), command: `subcrew resume ${id}` },
    tasks: [{ parked: { waitsFor: "quota" } }],
  });
  expect((await here.run(["ps"])).stdout).toMatch(/parked \(bg\).*parked: anthropic answered 429/);
  expect((await here.run(["logs", id])).stdout).toMatch(/park {4}explore {2}anthropic answered 429.*until 20/);
  const waiting = await here.run(["wait", id, "--timeout", "1s"]);
  expect(waiting.code).toBe(4);
  expect(waiting.stderr).toContain(`${id}  parked: anthropic answered 429`);

  served = true;
  const resumed = await here.run(["resume", id], { env: on(server) });
  expect(resumed).toMatchObject({ code: 0, stdout: "Hello.\n" });
  expect(resumed.stderr).toContain("hands the run over to this one");
  expect(server.requests).toHaveLength(2);
});

test("a run that is killed while it is parked shows the reason, and resume sends one request", async () => {
  const server = await serve(() => quota);
  const here = place();
  const id = await parked(here, on(server));
  expect((await here.run(["kill", id])).code).toBe(0);
  const status = await here.run(["status", id]);
  expect(status.stdout).toMatch(/Status: interrupted[^]*Parked: explore: anthropic answered 429/);
  const again = here.start(["resume", id], { env: on(server) });
  await again.until(/park {4}explore/);
  expect(server.requests).toHaveLength(2);
  again.child.kill("SIGINT");
  expect((await again.ended).code).toBe(130);
  expect((await here.run(["status", id])).stdout).toContain("Status: paused");
});

test("a run that is parked at its limit continues when the limit is raised", async () => {
  const look = { calls: [{ name: "list_files", input: {} }] };
  const server = await serve((_request, n) => (n < 2 ? look : "Done."));
  const here = place();
  const id = await parked(here, on(server), "--max-run-turns", "1");
  expect(server.requests).toHaveLength(1);
  expect((await here.run(["status", id])).stdout).toContain(
    `Raise the limit: \`subcrew resume ${id} --max-run-turns ...\``,
  );
  const resumed = await here.run(["resume", id, "--max-run-turns", "5"], { env: on(server) });
  expect(resumed).toMatchObject({ code: 0, stdout: "Done.\n" });
  expect(server.requests).toHaveLength(2);
});

test("resume takes over a run with one parked and one running task", async () => {
  let served = false;
  let bothAsk: () => void = () => {};
  const both = new Promise<void>((resolve) => (bothAsk = resolve));
  const never = new Promise<never>(() => {});
  const server = await serve(async ({ body }, n) => {
    if (served) return JSON.stringify(body).includes("north") ? "North." : "South.";
    if (n === 2) bothAsk();
    await both; // both requests are sent before the first refusal, which would otherwise hold the other task
    return JSON.stringify(body).includes("north") ? quota : never;
  });
  const here = place();
  const env = on(server);
  const started = await here.run(["parallel", "n@explore=look north", "s@explore=look south", "--bg", "--quiet"], {
    env,
  });
  const id = started.stdout.trim();
  const watching = here.start(["logs", id, "--follow"]);
  await watching.until(/park {4}/);
  watching.child.kill("SIGINT");
  await watching.ended;
  served = true;
  const resumed = await here.run(["resume", id], { env });
  expect(resumed.stderr).toContain(
    `Tasks of ${id} wait in another process. That process now hands the run over to this one.`,
  );
  expect(resumed.code).toBe(0);
  expect(resumed.stdout).toMatch(/North\.[^]*South\./);
  expect(server.requests).toHaveLength(4);
});

test("without a terminal a run fails instead of parking", async () => {
  const server = await serve(() => ({ fault: "unauthorized" }));
  const here = place();
  expect((await here.run(["run", "explore", "hi"], { env: on(server) })).code).toBe(1);
  expect((await here.run(["run", "explore", "hi", "--on-limit", "stop"], { env: on(server) })).code).toBe(2);
});

test("in a terminal a parked run counts down, and Ctrl-C pauses it", async (ctx) => {
  if (tmux.missing !== undefined) return ctx.skip(tmux.missing);
  const server = await serve(() => quota);
  open = terminal(tmux.path, place(), ["run", "explore", "hi"], { columns: 100, env: on(server) });
  await open.until(/parked: next try in 9m 5\ds/);
  await open.until("Ctrl-C pauses");
  open.keys("C-c");
  await open.until("[exit 130]");
  expect(open.history()).toContain("paused");
});
