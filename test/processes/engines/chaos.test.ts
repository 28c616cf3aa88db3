import { afterAll, beforeAll, expect, test } from "vitest";
import { type EngineSite, exactnessOf, openSite, resultOf, taskNode } from "../../support/engine-site.ts";
import { usePostgres } from "../../support/postgres.ts";

const postgres = usePostgres();
let site: EngineSite;

beforeAll(async () => {
  if (!postgres.isMissing()) site = await openSite(postgres.server(), { turnMs: 150, deadAfter: "5s" });
}, 120_000);
afterAll(async () => {
  if (postgres.isMissing()) return;
  await site.close();
}, 60_000);

const FAN = "run_chaos0000fan";
const CHAIN = "run_chaos000line";
/** 190 parallel tasks, and ten one after the other. */
const ids = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, at) => from + at);
const fan = {
  nodes: {
    ...Object.fromEntries(ids(1, 190).map((task) => [`t${task}`, taskNode(task)])),
    all: { kind: "join" as const, needs: ids(1, 190).map((task) => `t${task}`), pick: "settled" as const },
  },
  output: "all",
};
const chain = {
  nodes: Object.fromEntries(
    ids(191, 200).map((task) => [`t${task}`, taskNode(task, task > 191 ? [`t${task - 1}`] : [])]),
  ),
  output: "t200",
};

test("200 tasks end exactly once while three processes are killed, one is frozen for 12 s and the database restarts", async () => {
  const workers = [site.worker(), site.worker(), site.worker()];
  await Promise.all(workers.map(({ ready }) => ready));
  const first = site.coordinate(FAN, fan, { concurrency: 48 });
  const second = site.coordinate(CHAIN, chain, { budget: { maxTurns: 20 } });
  const ended = async (): Promise<number> => {
    const [row] = await site.connection.database.query<{ n: number }>(
      `select count(*)::integer as n from subcrew.events where event::text like '%"node.ended"%'`,
    );
    return row?.n ?? 0;
  };
  const progress = (n: number): Promise<void> =>
    expect.poll(ended, { timeout: 120_000, interval: 100 }).toBeGreaterThanOrEqual(n);
  const replace = (at: number): void => {
    workers[at]!.child.kill("SIGKILL");
    workers[at] = site.worker();
  };
  await progress(10);
  replace(0);
  workers[1]!.child.kill("SIGSTOP");
  const thawed = new Promise<void>((resolve) =>
    setTimeout(() => {
      workers[1]!.child.kill("SIGCONT");
      resolve();
    }, 12_000),
  );
  await progress(20);
  second.child.kill("SIGKILL"); // a worker continues the run of the killed process
  await progress(40);
  await postgres.server().server.crash();
  await progress(60);
  replace(2);
  await thawed;
  await Promise.all([first.ended, isOver(CHAIN)]);

  const all = await Promise.all([FAN, CHAIN].map(async (run) => exactnessOf(await site.events(run), site.asked)));
  expect(all).toMatchObject(all.map(() => ({ ends: 1, status: "ok", twice: [], repeated: 0 })));
  const outputs = new Map(all.flatMap((one) => [...one.outputs]));
  for (const task of ids(1, 200)) expect(outputs.get(`t${task}`), `task ${task}`).toBe(resultOf(task));
  const lines = site.lines();
  expect(new Set(lines).size).toBe(lines.length); // an interrupted command is not repeated
  const takenOver = all.reduce((sum, one) => sum + one.takenOver, 0);
  expect(takenOver).toBeGreaterThan(0);
  const unrecorded = all.reduce((sum, one) => sum + one.unrecorded, 0);
  process.stdout.write(
    `chaos: ${takenOver} tasks taken over, ${site.asked.length} model requests, ${unrecorded} of them repeated because their answer was lost\n`,
  );
  expect(site.asked.length - unrecorded).toBe(400);
}, 240_000);

/** Resolves when a run has ended, whichever process coordinates it. */
async function isOver(run: string): Promise<void> {
  await expect
    .poll(async () => (await site.connection.store.last(run))?.type, { timeout: 120_000, interval: 200 })
    .toBe("run.ended");
}
