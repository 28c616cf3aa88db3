import { appendFileSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { capReached, type SharedSpending } from "../../../src/core/run/spending-caps.ts";
import { type Crew, createCrew, type Model } from "../../../src/index.ts";
import { openSpendingLedger } from "../../../src/runtime/ledgers/spending-ledger.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const never = new AbortController().signal;
const noon = new Date(2026, 10, 17, 12).getTime();
const DAY_MS = 24 * 3_600_000;

/** Answers at once, and reports a usage of a hundred tokens. */
const hundred: Model = async function* () {
  yield { type: "text", text: "done" };
  yield { type: "end", usage: { input: 60, output: 40 } };
};

function crewOf(home: string, spending: object, folder = "project"): Crew {
  const cwd = join(home, folder);
  mkdirSync(cwd, { recursive: true });
  return createCrew({
    cwd,
    home: join(home, "state"),
    userHome: home,
    config: { spending },
    discover: false,
    env: {},
    models: { m: hundred },
    agents: [{ name: "worker", description: "Works.", instructions: "Work.", model: "m", tools: [] }],
  });
}
const single = { mode: "single", agent: "worker", task: "go" } as const;
const tokens = (home: string): number => {
  const folder = join(home, "state", "spending");
  const lines = readdirSync(folder)
    .filter((name) => name.endsWith(".jsonl"))
    .flatMap((name) => readFileSync(join(folder, name), "utf8").trim().split("\n"))
    .map((line) => JSON.parse(line) as { project?: string; tokens: number });
  return lines.filter(({ project }) => project === undefined).reduce((sum, line) => sum + line.tokens, 0);
};

test("runs of several crews share the daily cap, and the message names the cap and a fix", async () => {
  const home = tempFolder();
  // the cap is less than the longest answer, so a shorter answer is requested
  const caps = { perDay: { maxTokens: 5_000 } };
  for (const folder of ["a", "b"]) expect(await crewOf(home, caps, folder).run(single)).toMatchObject({ status: "ok" });
  expect(tokens(home)).toBe(200);
  const tight = crewOf(home, { perDay: { maxTokens: 250 } }, "c");
  const { fault, limit } = await tight.run(single);
  expect(fault).toMatchObject({
    code: "BUDGET",
    message: "The first request of this task needs more than the rest of the limit of 250 tokens a day for all runs.",
    hint: "Raise the limit with the setting spending.perDay.maxTokens.",
  });
  expect(limit).toEqual({ kind: "tokens", value: 250, run: true, cap: "day" });
  expect(tokens(home)).toBe(200);
});

test("the cap of a project counts only usage in that project", async () => {
  const home = tempFolder();
  const caps = { perProject: { maxTokens: 12_000 } };
  expect(await crewOf(home, caps, "a").run(single)).toMatchObject({ status: "ok" });
  const full = { perProject: { maxTokens: 9_000 } };
  const [file = ""] = readdirSync(join(home, "state", "spending"));
  const claim = { pid: 999_999_999, started: "1" };
  const entry = { id: "x", project: join(home, "a"), tokens: 20_000, usd: 0, cut: { tokens: 8_500, usd: 0 }, claim };
  // the process of this reservation is gone
  appendFileSync(join(home, "state", "spending", file), `${JSON.stringify(entry)}\n`);
  expect(await crewOf(home, full, "b").run(single)).toMatchObject({ status: "ok" });
  expect((await crewOf(home, full, "a").run(single)).fault?.message).toContain(
    "9000 tokens for all runs in this project",
  );
});

test("a cap in dollars needs the price of the model", async () => {
  const { fault } = await crewOf(tempFolder(), { perDay: { maxUsd: 5 } }).run(single);
  expect(fault).toMatchObject({ code: "BUDGET", message: expect.stringContaining("price of m is unknown") });
});

test("concurrent reservations together never exceed a cap, and every settled amount counts", async () => {
  const folder = tempFolder();
  const caps = { perDay: { maxTokens: 1_000 } };
  const amount = { tokens: 100, usd: 0 };
  const fits = (spending: SharedSpending) => capReached(caps, spending, { ...amount, share: 1 });
  const ledgers = ["a", "b", "c", "d"].map((project) => openSpendingLedger(folder, { project, clock: () => noon }));
  const asked = Array.from({ length: 40 }, (_, n) =>
    ledgers[n % ledgers.length]!.reserve({ amount, cut: amount }, fits, never),
  );
  const entries = await Promise.all(asked);
  const granted = entries.flatMap((entry) => (typeof entry === "object" && "settle" in entry ? [entry] : []));
  expect(granted).toHaveLength(10);
  expect(entries.filter((entry) => entry === "wait")).toHaveLength(30);
  for (const entry of granted) entry.settle({ tokens: 7, usd: 0.5 });
  expect((await ledgers[0]!.look()).day).toEqual({ spent: { tokens: 70, usd: 5 }, open: { tokens: 0, usd: 0 } });
});

test("a new day begins with zero usage, and a project keeps its usage when old days are merged", async () => {
  const folder = tempFolder();
  let now = noon;
  const open = () => openSpendingLedger(folder, { project: "a", clock: () => now });
  const spend = async (tokens: number): Promise<void> => {
    const amount = { tokens, usd: 0 };
    const entry = await open().reserve({ amount, cut: amount }, () => undefined as never, never);
    (entry as { settle(amount: object): void }).settle(amount);
  };
  await spend(10);
  now += DAY_MS;
  expect(await open().look()).toMatchObject({ day: { spent: { tokens: 0 } }, project: { spent: { tokens: 10 } } });
  await spend(5);
  now += 5 * DAY_MS;
  await spend(1);
  expect(readdirSync(folder).filter((name) => name.endsWith(".jsonl"))).toEqual(["2026-11-23.jsonl"]);
  expect(await open().look()).toMatchObject({ day: { spent: { tokens: 1 } }, project: { spent: { tokens: 16 } } });
});
