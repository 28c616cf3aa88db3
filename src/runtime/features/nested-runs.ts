import { noCost, noUsage } from "../../core/outcome/usage.ts";
import type { Amount, Budget, BudgetRefusal, BudgetSpent, Reservation } from "../../core/run/budget.ts";
import type { BudgetReply, BudgetRequest } from "../../core/run/budget-request.ts";
import type { RunStore } from "../../core/run/run-store.ts";
import type { BelowSpent } from "../../core/run/run-below.ts";
import { defined } from "../../core/text/defined.ts";
import { keptRuns } from "../background/stored-runs.ts";
import type { RunControls } from "../run/run.ts";
import type { Feature } from "./feature.ts";

export const nestedRunsFeature: Feature = {
  name: "nested runs",
  does: "lends parts of the budget to the runs that programs of its tasks start, and counts what they use",
  open: ({ store, emit, log }) => {
    const died = (path: string, { run: below, ...spent }: BelowSpent): void =>
      emit(path, { type: "below.ended", below, ...spent });
    let lent: LentBudget | undefined;
    return {
      scope: ({ budget }) => {
        lent = lendBudget(budget, store ? runsIn(store) : noRuns, died);
        return {};
      },
      commands: {
        lend: async (...asked) => lent?.answer(...asked),
        charge: (path, { run: below, ...spent }) => {
          if (log.isSealed) return false;
          emit(path, { type: "below.ended", below, ...spent });
          lent?.ended(below, inBudget(spent));
          return true;
        },
      },
      close: () => lent?.close(),
    };
  },
};

/** How long a message to a nested run waits until that run has received it. */
const TELL_MS = 5_000;

/** The nested runs of a store. */
const runsIn = (store: RunStore): RunsBelow => ({
  isOwned: async (run) => (await store.owner(run)) !== undefined,
  revoke: (run, reservation) => {
    const options = { waitMs: TELL_MS, signal: AbortSignal.timeout(TELL_MS) };
    void keptRuns(store)
      .tell(run, { do: "revoke", reservation }, options)
      .catch(() => {});
  },
});

/** Used where nothing is known about other processes: every nested run counts as alive. */
const noRuns: RunsBelow = { isOwned: async () => true, revoke: () => {} };

/** The usage of a nested run, in the units of a budget. */
const inBudget = ({ usage, cost, toolCalls, spawns }: Omit<BelowSpent, "run">): BudgetSpent => ({
  tokens: usage.input + usage.output + usage.cacheRead + usage.cacheWrite + (usage.estimated ?? 0),
  usd: cost.usd + (cost.estimated ?? 0),
  maxTurns: usage.turns,
  maxToolCalls: toolCalls,
  maxSpawns: spawns,
});

/** The nested runs that programs of tasks started, as their parent run sees them. */
type RunsBelow = Readonly<{
  /** True while a process works on the nested run. */
  isOwned(run: string): Promise<boolean>;
  /** Tells a nested run that one of its reservations is taken back. */
  revoke(run: string, id: string): void;
}>;

/** A budget of which nested runs in other processes can reserve parts. */
type LentBudget = Readonly<{
  answer: RunControls["lend"];
  /** To be called when a nested run has ended, with its total usage: counts the part that was not settled yet. */
  ended(below: string, used: BudgetSpent): void;
  close(): void;
}>;

/** How often nested runs with open reservations are checked for a dead process. */
const LOOK_EVERY_MS = 1_000;

/**
 * Lends a budget to nested runs. Reservations of a process that died count with their estimate, and `died` is called
 * with its usage.
 */
export function lendBudget(
  budget: Budget,
  { isOwned, revoke }: RunsBelow,
  died: (path: string, spent: BelowSpent) => void,
): LentBudget {
  const accounts = new Map<string, Account>();
  let looking: NodeJS.Timeout | undefined;

  const accountOf = (path: string, below: string): Account => {
    const account = accounts.get(below) ?? newAccount(path);
    accounts.set(below, account);
    return account;
  };
  const settle = (account: Account, id: string, actual: Amount): void => {
    const loan = account.loans.get(id);
    if (!loan || loan.over) return;
    loan.over = true;
    if (!loan.held) return loan.waiting.abort(); // a reservation that is still waiting is released as soon as it is granted
    loan.held.settle(actual);
    account.used.tokens += actual.tokens;
    account.used.usd += actual.usd ?? 0;
  };
  const bury = (below: string, account: Account): void => {
    accounts.delete(below);
    const { tokens, usd, ...counts } = account.used;
    const cut = { tokens: 0, usd: 0 };
    for (const [id, loan] of account.loans) {
      if (loan.held && !loan.over) {
        cut.tokens += loan.cut.tokens;
        cut.usd += loan.cut.usd ?? 0;
      }
      settle(account, id, loan.cut);
    }
    died(account.path, {
      run: below,
      usage: { ...noUsage(), turns: counts.maxTurns, estimated: tokens + cut.tokens },
      cost: { ...noCost(), usd, ...(cut.usd > 0 && { estimated: cut.usd }) },
      toolCalls: counts.maxToolCalls,
      spawns: counts.maxSpawns,
    });
  };
  const look = async (): Promise<void> => {
    for (const [below, account] of accounts)
      if (isBusy(account) && !(await isOwned(below).catch(() => true)) && accounts.get(below) === account)
        bury(below, account);
    if (![...accounts.values()].some(isBusy)) {
      clearInterval(looking);
      looking = undefined;
    }
  };
  const reserve = async (
    account: Account,
    below: string,
    { id, wish }: Extract<BudgetRequest, { what: "reserve" }>,
  ): Promise<BudgetReply | undefined> => {
    let loan = account.loans.get(id);
    if (!loan) {
      if (!(await isOwned(below))) return { refusal: WITHDRAWN };
      loan = { waiting: new AbortController(), cut: defined(wish.cut ?? { tokens: 0 }), over: false };
      account.loans.set(id, loan);
      loan.decided = decide(
        loan,
        budget.reserve(defined({ ...wish, cut: loan.cut }), () => revoke(below, id), loan.waiting.signal),
      );
      looking ??= setInterval(() => void look(), LOOK_EVERY_MS).unref();
    }
    await Promise.race([loan.decided, new Promise(setImmediate)]);
    if (loan.over) return { refusal: WITHDRAWN };
    return loan.refusal ? { refusal: loan.refusal } : loan.held && {};
  };
  return {
    answer: async ({ path, below }, request) => {
      const account = accountOf(path, below);
      switch (request.what) {
        case "reserve":
          return reserve(account, below, request);
        case "settle":
          settle(account, request.id, defined(request.actual));
          return {};
        case "room":
          return defined({ room: await budget.room() });
        case "count": {
          const refusal = await budget.count(request.kind);
          if (!refusal) account.used[request.kind] += 1;
          return defined({ refusal: refusal && ofAbove(refusal) });
        }
      }
    },
    ended: (below, all) => {
      const account = accounts.get(below);
      accounts.delete(below);
      for (const id of account?.loans.keys() ?? []) settle(account!, id, { tokens: 0 });
      const used = account?.used ?? newAccount("").used;
      const rest = (kind: keyof BudgetSpent): number => Math.max(0, all[kind] - used[kind]);
      budget.charge({
        tokens: rest("tokens"),
        usd: rest("usd"),
        maxTurns: rest("maxTurns"),
        maxToolCalls: rest("maxToolCalls"),
        maxSpawns: rest("maxSpawns"),
      });
    },
    close: () => clearInterval(looking),
  };
}

type Loan = {
  readonly waiting: AbortController;
  /** The amount that counts if the process of the nested run dies. */
  readonly cut: Amount;
  decided?: Promise<void>;
  held?: Reservation;
  refusal?: BudgetRefusal;
  /** True: the reservation was settled, or the nested run no longer needs it. */
  over: boolean;
};

/** The used and reserved amounts of one nested run. */
type Account = {
  readonly path: string;
  readonly loans: Map<string, Loan>;
  readonly used: { -readonly [K in keyof BudgetSpent]: number };
};

const newAccount = (path: string): Account => ({
  path,
  loans: new Map(),
  used: { tokens: 0, usd: 0, maxTurns: 0, maxToolCalls: 0, maxSpawns: 0 },
});

const isBusy = ({ loans }: Account): boolean => [...loans.values()].some(({ over, refusal }) => !over && !refusal);

async function decide(loan: Loan, granting: ReturnType<Budget["reserve"]>): Promise<void> {
  const got = await granting;
  if ("refused" in got) loan.refusal = ofAbove(got);
  else if (loan.over) got.release();
  else loan.held = got;
}

const ofAbove = (refusal: BudgetRefusal): BudgetRefusal => ({
  ...refusal,
  refused: `${refusal.refused} (a limit of the parent run)`,
});

const WITHDRAWN: BudgetRefusal = { refused: "the reservation was withdrawn", unpriced: true };
