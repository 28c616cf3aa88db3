import { randomBytes } from "node:crypto";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Amount } from "../../core/run/budget.ts";
import type { SharedSpending, SpendingLedger } from "../../core/run/spending-caps.ts";
import { isRecord, parseJson } from "../../core/text/json.ts";
import { alone } from "../disk/file-lock.ts";
import { appendRegularSync, openRegular, readRegularText } from "../disk/regular-file.ts";
import { isLiving, type ProcessClaim, whoWeAre } from "../disk/process-claim.ts";
import { writeAtomic } from "../disk/write-atomic.ts";

/** How long a day's file stays open; older complete days are merged into one file. */
const OPEN_DAYS_MS = 2 * 24 * 3_600_000;
const TOTALS = "totals.json";

/** Records spending in a folder: one file for each day, to which lines are added. */
export function openSpendingLedger(
  folder: string,
  { project, clock }: Readonly<{ project: string; clock: () => number }>,
): SpendingLedger {
  const lock = join(folder, "lock");
  const days = new Map<string, DayLedger>();
  let us: Promise<ProcessClaim> | undefined;

  const look = async (): Promise<SharedSpending> => {
    const { until, projects } = await readTotals(folder);
    const names = (await readdir(folder).catch(() => [])).filter((name) => DAY.test(name) && name > until);
    const today = dayOf(clock());
    const day = { spent: nothing(), open: nothing() };
    const here = { spent: projects[project] ?? nothing(), open: nothing() };
    for (const name of names) {
      const ledger = days.get(name) ?? emptyDay(join(folder, name));
      days.set(name, ledger);
      await catchUp(ledger);
      await buryDead(ledger);
      if (name === `${today}.jsonl`) for (const sums of ledger.projects.values()) addTo(day, sums);
      const ours = ledger.projects.get(project);
      if (ours) addTo(here, ours);
    }
    return { day, project: here };
  };
  return {
    look,
    reserve: async ({ amount, cut }, fits, signal) => {
      const isFirst = us === undefined;
      us ??= whoWeAre();
      const claim = await us;
      await mkdir(folder, { recursive: true, mode: 0o700 });
      return alone(
        lock,
        async () => {
          if (isFirst) await foldOldDays(folder, clock());
          const refused = fits(await look());
          if (refused !== undefined) return refused;
          const file = join(folder, `${dayOf(clock())}.jsonl`);
          const id = randomBytes(8).toString("hex");
          add(file, { id, project, at: clock(), ...amount, cut, claim });
          let over = false;
          return {
            settle: (actual: Required<Amount>) => {
              if (over) return;
              over = true;
              add(file, { id, ...actual });
            },
          };
        },
        signal,
      );
    },
  };
}

type Sums = { spent: Required<Amount>; open: Required<Amount> };
type OpenEntry = Readonly<{ project: string; amount: Required<Amount>; cut: Required<Amount>; claim: ProcessClaim }>;
type DayLedger = { readonly file: string; read: number; projects: Map<string, Sums>; open: Map<string, OpenEntry> };

const DAY = /^\d{4}-\d\d-\d\d\.jsonl$/;
const nothing = (): { tokens: number; usd: number } => ({ tokens: 0, usd: 0 });
const emptyDay = (file: string): DayLedger => ({ file, read: 0, projects: new Map(), open: new Map() });

/** The date in the user's time zone. */
function dayOf(at: number): string {
  const date = new Date(at);
  const two = (n: number): string => String(n).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/**
 * Appends one short line with a single call: lines of several processes do not mix, and the line survives a kill of the
 * process.
 */
function add(file: string, line: object): void {
  appendRegularSync(file, `${JSON.stringify(line)}\n`);
}

function addTo(sums: Sums, more: Sums): void {
  for (const part of ["spent", "open"] as const) {
    sums[part] = { tokens: sums[part].tokens + more[part].tokens, usd: sums[part].usd + more[part].usd };
  }
}

/** Reads new lines; a half-written line is read the next time. */
async function catchUp(ledger: DayLedger): Promise<void> {
  const file = await openRegular(ledger.file).catch(() => undefined);
  if (!file) return;
  try {
    const bytes = Buffer.alloc(Math.max(0, (await file.stat()).size - ledger.read));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, ledger.read);
    const whole = bytes.subarray(0, bytesRead).lastIndexOf(0x0a) + 1;
    for (const line of bytes.toString("utf8", 0, whole).split("\n")) if (line !== "") take(ledger, line);
    ledger.read += whole;
  } finally {
    await file.close();
  }
}

function take(ledger: DayLedger, line: string): void {
  const entry = entryIn(line);
  if (!entry) return;
  const amount = amountIn(entry);
  const id = String(entry["id"]);
  if (typeof entry["project"] === "string" && isRecord(entry["claim"]) && isRecord(entry["cut"])) {
    const open = {
      project: entry["project"],
      amount,
      cut: amountIn(entry["cut"]),
      claim: entry["claim"] as ProcessClaim,
    };
    ledger.open.set(id, open);
    addTo(sumsOf(ledger, open.project), { spent: nothing(), open: amount });
  } else close(ledger, id, amount);
}

function close(ledger: DayLedger, id: string, actual: Required<Amount>): void {
  const open = ledger.open.get(id);
  if (!open) return;
  ledger.open.delete(id);
  const { tokens, usd } = open.amount;
  addTo(sumsOf(ledger, open.project), { spent: actual, open: { tokens: -tokens, usd: -usd } });
}

/** Counts a model call of a process that died during it with its estimated cost. */
async function buryDead(ledger: DayLedger): Promise<void> {
  for (const [id, { claim, cut }] of ledger.open) if (!(await isLiving(claim))) close(ledger, id, cut);
}

function sumsOf(ledger: DayLedger, project: string): Sums {
  const known = ledger.projects.get(project) ?? { spent: nothing(), open: nothing() };
  ledger.projects.set(project, known);
  return known;
}

function entryIn(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = parseJson(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined; // a line that is incomplete after a crash of the machine
  }
}

function amountIn(value: Readonly<Record<string, unknown>>): Required<Amount> {
  const number = (name: string): number => (Number.isFinite(value[name]) ? Math.max(0, Number(value[name])) : 0);
  return { tokens: number("tokens"), usd: number("usd") };
}

/** Spending per project on completed days, and the last of these days. */
type Totals = Readonly<{ until: string; projects: Readonly<Record<string, Required<Amount>>> }>;

async function readTotals(folder: string): Promise<Totals> {
  const { until, projects } = entryIn(await readRegularText(join(folder, TOTALS)).catch(() => "{}")) ?? {};
  const sums = Object.entries(isRecord(projects) ? projects : {});
  return {
    until: typeof until === "string" ? until : "",
    projects: Object.fromEntries(sums.map(([project, each]) => [project, amountIn(isRecord(each) ? each : {})])),
  };
}

/** Adds completed days to the totals, and deletes their files. A crash in between loses nothing. */
async function foldOldDays(folder: string, now: number): Promise<void> {
  const { until, projects } = await readTotals(folder);
  const names = (await readdir(folder)).filter((name) => DAY.test(name) && name < `${dayOf(now - OPEN_DAYS_MS)}.jsonl`);
  const fresh = names.filter((name) => name > until).toSorted();
  const sums = new Map(Object.entries(projects));
  for (const name of fresh) {
    const ledger = emptyDay(join(folder, name));
    await catchUp(ledger);
    for (const [id, { cut }] of ledger.open) close(ledger, id, cut);
    for (const [project, { spent }] of ledger.projects) {
      const { tokens, usd } = sums.get(project) ?? nothing();
      sums.set(project, { tokens: tokens + spent.tokens, usd: usd + spent.usd });
    }
  }
  if (fresh.length > 0)
    await writeAtomic(
      join(folder, TOTALS),
      JSON.stringify({ until: fresh.at(-1), projects: Object.fromEntries(sums) }),
    );
  for (const name of names) await rm(join(folder, name), { force: true });
}
