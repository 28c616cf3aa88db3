import { topNodeOf, withDependents } from "../../src/core/plan/graph.ts";
import type { KeptEvent } from "../../src/core/run/event.ts";
import { isKept } from "../../src/core/run/kept-event.ts";
import { emptyState, reduce, type State } from "../../src/core/run/state.ts";
import { agents, SECRET } from "./cast.ts";
import { RUN } from "./life.ts";
import { PAUSE, type Story } from "./simulate.ts";

/** Rules that hold in every simulation, whatever went wrong in it: each returns its violations in words. */
export function brokenRules(story: Story): readonly string[] {
  const state = story.journal.reduce(reduce, emptyState(RUN));
  const seen: Seen = { ...story, state };
  return [...story.broken, ...rules.flatMap((rule) => rule(seen))];
}

type Seen = Story & Readonly<{ state: State }>;
type Rule = (story: Seen) => string[];

const rules: readonly Rule[] = [
  function endsOnce({ journal }) {
    // A cancelled end may be followed by records of a process that had started to resume the run before it was
    // cancelled.
    const ends = journal.filter(
      (event, at) =>
        event.type === "run.ended" && !(event.outcome.status === "cancelled" && journal[at + 1]?.type === "note"),
    );
    return ends.length === 1 && journal.at(-1) === ends[0] ? [] : [`the journal holds ${ends.length} ends`];
  },
  function nothingStaysOpen({ state }) {
    return [...state.nodes.values()].filter(({ outcome }) => !outcome).map(({ path }) => `${path} never ended`);
  },
  function nothingAcknowledgedIsLost({ journal, lives }) {
    return lives.flatMap(({ number, published, sent }) => [
      ...published
        .filter(isKept)
        .filter((event) => JSON.stringify(journal[event.seq - 1]) !== JSON.stringify(event))
        .map(({ seq, type }) => `record ${seq} (${type}) of process ${number} was told and is lost`),
      ...sent
        .filter((text) => !journal.some((event) => event.type === "message.sent" && event.text.includes(text)))
        .map((text) => `the message "${text}" was taken and is lost`),
    ]);
  },
  function nothingRecordedIsDoneAgain({ journal, lives, deeds }) {
    const tasks = lives.flatMap(({ number, past, performed }) => {
      const done = doneIn(past);
      return performed
        .filter((key, at) => done.has(key) || performed.indexOf(key) < at)
        .map((key) => `${key} was performed again by process ${number}`);
    });
    const effects = deeds.filter(({ tool }) => tool === "change" || tool === "launch").map(({ id }) => id);
    const recorded = attempted(journal).flatMap(({ event, attempt }) => {
      if (event.type === "turn.ended") return [`turn ${event.turn} of ${event.path}#${attempt}`];
      return event.type === "tool.ended" ? [`call ${event.call} of ${event.path}#${attempt}`] : [];
    });
    return [
      ...tasks,
      ...repeated(effects).map((id) => `the effect of call ${id} was had again`),
      ...repeated(recorded).map((what) => `${what} is recorded twice`),
    ];
  },
  function noToolBeyondTheAgentsOwn({ deeds }) {
    return deeds.flatMap(({ tool, path, agent }) =>
      mayUse(agent, tool) ? [] : [`${path} (${agent}) used ${tool}, which it may not`],
    );
  },
  function secretsStayInside({ files, lives }) {
    const kept = [...files].filter(([, bytes]) => bytes.includes(SECRET)).map(([file]) => `${file} holds a secret`);
    const told = lives.flatMap(({ published }) => {
      const texts = new Map<string, string>();
      for (const event of published) {
        const stream = isKept(event) ? "" : `${event.path} ${event.type} ${"call" in event ? event.call : ""}`;
        const text = isKept(event) ? JSON.stringify(event) : event.text;
        texts.set(stream, (texts.get(stream) ?? "") + text);
      }
      return [...texts].filter(([, text]) => text.includes(SECRET)).map(([stream]) => `a secret was shown: ${stream}`);
    });
    return [...kept, ...told];
  },
  function limitsHold({ journal }) {
    const names = new Map<string, string>();
    return journal.flatMap((event) => {
      if (event.type === "node.started" && event.agent !== undefined) names.set(event.path, event.agent);
      if (event.type !== "turn.started") return [];
      const most = agents.find(({ name }) => name === names.get(event.path))?.limits?.maxTurns ?? 100;
      return event.turn > most + 1 ? [`${event.path} began turn ${event.turn} of ${most}`] : [];
    });
  },
  function onlyWhatMayPassIsTriedAgain({ journal, plan }) {
    const tries = new Map<string, number>();
    return journal.flatMap((event) => {
      if (event.type !== "node.retried") return [];
      const { path, outcome } = event;
      const count = (tries.get(path) ?? 1) + 1;
      tries.set(path, count);
      const node = plan.nodes[path];
      const most = node?.kind === "task" ? (node.task.retry?.maxAttempts ?? 1) : Number.POSITIVE_INFINITY;
      const fault = outcome.status === "failed" ? outcome.fault : undefined;
      return [
        ...(count > most ? [`${path} was tried ${count} times of ${most}`] : []),
        ...(fault && fault.code !== "MODEL_AUTH" ? [] : [`${path} was tried again after ${fault?.code ?? "no fault"}`]),
      ];
    });
  },
  function whatIsCancelledBeginsNothing({ cancelled, deeds, thoughts }) {
    if (!cancelled) return [];
    return [...deeds, ...thoughts]
      .filter(({ life, step, late }) => life === cancelled.life && step > cancelled.step && !late)
      .map(() => "something began after everything was cancelled");
  },
  function whatIsPausedBeginsNothing({ paused, deeds, thoughts }) {
    return [...deeds, ...thoughts]
      .filter(({ life, step, late }) => paused && life === paused.life && step > paused.step && !late)
      .map(() => "something began after everything was paused");
  },
  function onlyTheResumedTaskGoesOn({ journal, plan }) {
    let only: ReadonlySet<string> | undefined;
    const winners = new Set(journal.flatMap(({ type, path }) => (type === "node.won" ? [path] : [])));
    return journal.flatMap((event) => {
      if (event.type === "run.resumed") only = event.task === undefined ? undefined : withDependents(plan, event.task);
      const begins = event.type === "turn.started" || event.type === "tool.started" || event.type === "node.started";
      const top = topNodeOf(plan, event.path);
      return begins && only && !only.has(top) && !winners.has(top)
        ? [`${event.type} of ${event.path} although only another task was resumed`]
        : [];
    });
  },
  function aPauseEndsNothing({ journal }) {
    return journal.flatMap((event) =>
      event.type === "node.ended" && event.outcome.status === "cancelled" && event.outcome.reason === PAUSE
        ? [`${event.path} was ended by a pause`]
        : [],
    );
  },
  function whatWasPausedGoesOnInItsAttempt({ journal }) {
    const open = new Map<string, number>();
    const waits = new Map<string, number>();
    return journal.flatMap((event) => {
      const { type, path } = event;
      if (type === "node.ended" || type === "node.retried") {
        open.delete(path);
        waits.delete(path);
      }
      if (type === "run.paused") for (const [one, attempt] of open) waits.set(one, attempt);
      if (type !== "node.started" || event.kind !== "task") return [];
      const before = waits.get(path);
      waits.delete(path);
      open.set(path, event.attempt);
      return before === undefined || before === event.attempt
        ? []
        : [`${path} was paused in attempt ${before} and goes on in ${event.attempt}`];
    });
  },
  function budgetsHold({ journal, faults: { budget } }) {
    const closing = new Set<string>();
    let [turns, calls] = [0, 0];
    for (const event of journal) {
      if (event.type === "node.started") closing.delete(event.path);
      if (event.type === "limit.reached" && event.enforced) closing.add(event.path);
      if (event.type === "turn.ended" && !closing.has(event.path)) turns += 1;
      if (event.type === "tool.started") calls += 1;
    }
    const { maxTurns = Number.POSITIVE_INFINITY, maxToolCalls = Number.POSITIVE_INFINITY } = budget ?? {};
    return [
      ...(turns > maxTurns ? [`${turns} turns of ${maxTurns}`] : []),
      ...(calls > maxToolCalls ? [`${calls} tool calls of ${maxToolCalls}`] : []),
    ];
  },
  function whatParksGoesOn({ journal, faults: { closed, model } }) {
    if (!closed || model !== undefined) return [];
    return journal.flatMap((event) =>
      event.type === "node.ended" && event.outcome.status === "failed" && event.outcome.fault.code === "MODEL_AUTH"
        ? [`${event.path} failed although its provider opened again`]
        : [],
    );
  },
  function winnersAreKept({ plan, state }) {
    return Object.entries(plan.nodes).flatMap(([id, node]) => {
      const outcome = state.nodes.get(id)?.outcome;
      if (node.kind !== "join" || node.pick !== "first" || !outcome) return [];
      const good = node.needs.filter((need) => state.nodes.get(need)?.outcome?.status === "ok");
      const enough = good.length >= (node.count ?? 1);
      if (outcome.status === "failed" && enough) return [`${id} failed although ${good.join(", ")} succeeded`];
      if (outcome.status !== "ok") return [];
      return enough && outcome.from?.every((from) => good.includes(from))
        ? []
        : [`${id} won with what did not succeed`];
    });
  },
  function theRunEndsAsItsOutputDid({ plan, state, journal }) {
    const last = journal.at(-1);
    const output = state.nodes.get(plan.output)?.outcome;
    if (last?.type !== "run.ended" || !output || output.status === "skipped") return [];
    return last.outcome.status === output.status
      ? []
      : [`its output ended ${output.status}, it ${last.outcome.status}`];
  },
];

/**
 * The permissions of the agents, from their own table: no agent may use a forbidden tool, and a planning one changes
 * nothing.
 */
function mayUse(name: string, tool: string): boolean {
  const agent = agents.find((one) => one.name === name);
  if (!agent || tool === "forbidden") return false;
  if (agent.permission === "plan" && (tool === "change" || tool === "launch")) return false;
  return agent.tools?.includes(tool) ?? true;
}

/** The nodes that a journal records as completed; cancelled ones may be performed again. */
function doneIn(past: readonly KeptEvent[]): ReadonlySet<string> {
  const done = new Set<string>();
  for (const { event, attempt } of attempted(past)) {
    const ended =
      event.type === "node.retried" || (event.type === "node.ended" && event.outcome.status !== "cancelled");
    if (ended && attempt !== undefined) done.add(`${event.path}#${attempt}`);
  }
  return done;
}

/** Each event with the number of the attempt of its task. */
function attempted(journal: readonly KeptEvent[]): { event: KeptEvent; attempt: number | undefined }[] {
  const attempts = new Map<string, number>();
  return journal.map((event) => {
    if (event.type === "node.started") attempts.set(event.path, event.attempt);
    return { event, attempt: attempts.get(event.path) };
  });
}

const repeated = (all: readonly string[]): string[] => all.filter((one, at) => all.indexOf(one) !== at);
