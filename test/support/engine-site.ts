import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import type { KeptEvent } from "../../src/core/run/event.ts";
import { connectEngine, type Connection } from "../../src/engines/connect.ts";
import { ENGINE_ROLES, grantRoles } from "../../src/engines/roles.ts";
import { migrateDbos } from "../../src/engines/dbos/listen.ts";
import { createMemoryStore } from "../../src/runtime/store/memory-store.ts";
import { type ProviderServer, startProviderServer } from "../../src/testing/provider-server.ts";
import type { TestServer } from "./postgres.ts";

const dist = join(import.meta.dirname, "..", "..", "dist", "cli", "main.js");
const coordinator = join(import.meta.dirname, "..", "engines", "chaos-coordinator.mjs");

/** A process that can be killed, frozen and woken. */
export type SiteProcess = Readonly<{
  child: ChildProcess;
  ended: Promise<string>;
  /** Resolves when it accepts tasks; false if it ended before. */
  ready: Promise<boolean>;
}>;

export type Asked = Readonly<{ task: number; turn: number; at: number }>;

/**
 * Real workers, real coordinators and a model provider around one database; each task writes one line to a log. Each
 * process has its own home folder and its own login of the database. Only coordinators have the file of the agent.
 */
export type EngineSite = Readonly<{
  connection: Connection;
  url: string;
  workspace: string;
  /** The address of the model provider. */
  provider: string;
  /** The requests to the provider, in order. */
  asked: readonly Asked[];
  worker(flags?: readonly string[], through?: readonly string[]): SiteProcess;
  /** Starts a process that coordinates a run of a plan or an input. */
  coordinate(run: string, what: object, options?: object, through?: readonly string[]): SiteProcess;
  /** The lines that tasks wrote. */
  lines(): readonly string[];
  events(run: string): Promise<readonly KeptEvent[]>;
  close(): Promise<void>;
}>;

export type SiteOptions = Readonly<{
  /** How long the model takes for a turn. */
  turnMs: number;
  /** The time without a heartbeat after which a process counts as dead; by default 10 seconds. */
  deadAfter?: string;
}>;

/** Creates a login for each process of a site. All have one password, whose digest is computed once. */
const loginsNamed = (name: string): string => `do $$
  declare digest text;
  begin
    create role ${name} password 'site';
    select rolpassword into digest from pg_authid where rolname = '${name}';
    for number in 1..1000 loop
      execute format('create role %I login password %L in role ${ENGINE_ROLES.worker}, ${ENGINE_ROLES.coordinator}', '${name}_' || number, digest);
    end loop;
  end $$`;

/** The prompt of a task, and the required answer. */
export const promptOf = (task: number): string => `Do task number ${task}.`;
export const resultOf = (task: number): string => `Task ${task} is done.`;

/** A task node; `more` are its settings. */
export const taskNode = (task: number, needs: readonly string[] = [], more: object = {}) => ({
  kind: "task" as const,
  needs: [...needs],
  task: { agent: "chaos-worker", prompt: promptOf(task), ...more },
});

export async function openSite(
  postgres: Pick<TestServer, "fresh">,
  { turnMs, deadAfter }: SiteOptions,
): Promise<EngineSite> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "subcrew-site-")));
  const workspace = join(folder, "work");
  mkdirSync(workspace);
  const asked: Asked[] = [];
  const provider: ProviderServer = await startProviderServer(
    ({ body }) => {
      const messages = body["messages"] as readonly Readonly<{ role: string; content: unknown }>[];
      const said = JSON.stringify(messages.find(({ role }) => role === "user")?.content);
      const task = Number(/Do task number (\d+)/.exec(said)?.[1] ?? -1);
      const turn = messages.filter(({ role }) => role === "assistant").length + 1;
      asked.push({ task, turn, at: Date.now() });
      return turn === 1
        ? { calls: [{ name: "bash", input: { command: `echo ${task} >> log` } }], delayMs: turnMs }
        : { text: resultOf(task), delayMs: turnMs };
    },
    { record: false },
  );
  writeFileSync(join(workspace, "log"), "");
  const url = await postgres.fresh();
  await migrateDbos(url);
  const connection = connectEngine(url, { local: createMemoryStore() });
  expect(await grantRoles(connection.database)).toHaveProperty("granted");
  if (deadAfter !== undefined)
    await connection.database.query(
      `do $$ begin execute format('alter database %I set subcrew.dead_after = %L', current_database(), '${deadAfter}'); end $$`,
    );
  const started = new Set<ChildProcess>();
  process.once("disconnect", () => {
    for (const child of started) child.kill("SIGKILL"); // the test runner was killed
    process.exit();
  });
  const logins = `site_${randomBytes(6).toString("hex")}`;
  await connection.database.query(loginsNamed(logins));
  let begun = 0;
  const begin = (
    args: readonly string[],
    { through = [], hasAgent = false }: Readonly<{ through?: readonly string[]; hasAgent?: boolean }> = {},
  ): SiteProcess => {
    begun += 1;
    const home = join(folder, `home-${begun}`);
    const state = join(home, ".subcrew");
    for (const made of [state, join(home, ".claude", "agents")]) mkdirSync(made, { recursive: true });
    writeFileSync(
      join(state, "config.yaml"),
      `providers:\n  lab:\n    baseURL: ${provider.url}/v1\n    apiKey: chaos\n`,
    );
    if (hasAgent)
      writeFileSync(
        join(home, ".claude", "agents", "chaos-worker.md"),
        `---\nname: chaos-worker\ndescription: works\ntools: Bash\nmodel: lab/m\n---\nWork.\n`,
      );
    const address = new URL(url);
    [address.username, address.password] = [`${logins}_${begun}`, "site"];
    const env = { PATH: process.env["PATH"] ?? "", HOME: home, SUBCREW_HOME: state, SUBCREW_ENGINE: address.href };
    const [file = process.execPath, ...rest] = [...through, process.execPath, ...args];
    const child = spawn(file, rest, { cwd: workspace, env, stdio: ["ignore", "pipe", "pipe"] });
    started.add(child);
    let said = "";
    let isReady = (_: boolean): void => {};
    const ready = new Promise<boolean>((resolve) => (isReady = resolve));
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => {
        said += chunk.toString();
        if (said.includes("takes tasks")) isReady(true);
        if (process.env["CHAOS_LOG"]) appendFileSync(process.env["CHAOS_LOG"], `${child.pid} ${chunk.toString()}`);
      });
    const ended = new Promise<string>((resolve) =>
      child.once("close", (code, signal) => {
        started.delete(child);
        isReady(false);
        resolve(signal ?? `${code} ${said}`);
      }),
    );
    return { child, ended, ready };
  };
  const permissions = ["--permission-mode", "bypass", "--sandbox", "off"];
  let plans = 0;
  return {
    connection,
    url,
    workspace,
    provider: provider.url,
    asked,
    worker: (flags = [], through) =>
      begin([dist, "worker", "--poll", "50ms", "--grace", "1s", ...permissions, ...flags], through ? { through } : {}),
    coordinate: (run, plan, options = {}, through = []) => {
      plans += 1;
      const file = join(folder, `plan-${plans}.json`);
      writeFileSync(file, JSON.stringify(plan));
      return begin([coordinator, run, file, JSON.stringify(options)], { through, hasAgent: true });
    },
    lines: () => readFileSync(join(workspace, "log"), "utf8").split("\n").filter(Boolean),
    events: async (run) => (await connection.store.readWhole(run)).events,
    close: async () => {
      for (const child of started) child.kill("SIGKILL");
      await provider.close();
      await connection.database.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    },
  };
}

/** What the records of a run show about exactly-once execution. */
export type Exactness = Readonly<{
  ends: number;
  status: string | undefined;
  /** Results of task nodes, by path. */
  outputs: ReadonlyMap<string, string>;
  /** Turns, tool calls and ends that are recorded more than once. */
  twice: readonly string[];
  /** How often another worker continued a task whose worker was gone. */
  takenOver: number;
  /** Requests to the model for turns that were already recorded. */
  repeated: number;
  /** Requests to the model whose first answer was lost with its worker. */
  unrecorded: number;
}>;

export function exactnessOf(events: readonly KeptEvent[], asked: readonly Asked[]): Exactness {
  const seen = new Map<string, number>();
  const outputs = new Map<string, string>();
  const turnAt = new Map<string, number>();
  const numberOf = new Map<string, number>();
  let status: string | undefined;
  let ends = 0;
  let takenOver = 0;
  const note = (key: string): void => void seen.set(key, (seen.get(key) ?? 0) + 1);
  for (const event of events) {
    if (event.type === "run.ended") {
      ends += 1;
      status = event.outcome.status;
    }
    if (event.type === "node.started") {
      const number = /Do task number (\d+)/.exec(JSON.stringify(event))?.[1];
      if (number !== undefined) numberOf.set(event.path, Number(number));
    }
    if (event.type === "note" && event.text.includes("no sign of life")) takenOver += 1;
    if (event.type === "turn.ended") {
      note(`${event.path} turn ${event.turn}`);
      turnAt.set(`${numberOf.get(event.path)} ${event.turn}`, event.at);
    }
    if (event.type === "tool.ended") note(`${event.path} tool ${event.call}`);
    if (event.type === "node.ended") {
      note(`${event.path} ended`);
      if (event.outcome.status === "ok") outputs.set(event.path, event.outcome.output);
    }
  }
  const asking = new Map<string, number>();
  let repeated = 0;
  for (const { task, turn, at } of asked) {
    const key = `${task} ${turn}`;
    asking.set(key, (asking.get(key) ?? 0) + 1);
    const recorded = turnAt.get(key);
    if (recorded !== undefined && at > recorded) repeated += 1;
  }
  const mine = new Set(numberOf.values());
  const unrecorded = [...asking].reduce(
    (sum, [key, times]) => sum + (mine.has(Number(key.split(" ")[0])) ? times - 1 : 0),
    0,
  );
  return {
    ends,
    takenOver,
    status,
    outputs,
    twice: [...seen].flatMap(([key, times]) => (times > 1 ? [key] : [])),
    repeated,
    unrecorded,
  };
}
