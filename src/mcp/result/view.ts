import { z } from "zod";
import { explain } from "../../core/outcome/outcome.ts";
import { limitNote, type ReachedLimit } from "../../core/outcome/reached-limit.ts";
import { parkedRun } from "../../core/run/parked-run.ts";
import { isEnded, type RunStatus, openQuestions } from "../../core/run/run-status.ts";
import { isLeftOut, type NodeView, type State } from "../../core/run/state.ts";
import { defined } from "../../core/text/defined.ts";
import { offlineNote } from "../../core/view/offline-note.ts";
import { shownNodes } from "../../core/view/nodes.ts";

const lives = [
  "starting",
  "running",
  "waiting",
  "parked",
  "paused",
  "interrupted",
  "ok",
  "failed",
  "cancelled",
  "damaged",
] as const;

const summaryChars = z.number().optional().describe("how many characters of the output are shown");

const taskView = z.object({
  path: z.string(),
  agent: z.string().optional(),
  status: z.string(),
  doing: z.string().optional(),
  output: z.string().optional(),
  summaryChars,
});
export type TaskView = z.infer<typeof taskView>;

/** The schema of a run as clients see it. The results of the tools are described and checked with it. */
export const runView = z.object({
  run: z.string().describe("the id of the run, for status, result, answer and cancel"),
  status: z.enum(lives).describe("ok, failed and cancelled are final"),
  name: z.string().optional(),
  output: z.string().optional().describe("the output of the run so far"),
  data: z.unknown().optional().describe("the output as a JSON value, if a schema was given"),
  winner: z.string().optional().describe("for a race: the agent or model that won"),
  approved: z.boolean().optional().describe("false: the result contains work that no review approved"),
  error: z
    .object({ code: z.string(), message: z.string(), hint: z.string().optional() })
    .optional()
    .describe("why the run failed or was cancelled"),
  questions: z
    .array(
      z.object({
        path: z.string(),
        question: z.string(),
        about: z.enum(["gate", "question", "call"]),
        answered: z.literal(true).optional().describe("an answer is kept until the run is resumed"),
      }),
    )
    .optional()
    .describe("open questions of the run"),
  parked: z
    .object({
      why: z.string(),
      waitsFor: z.string(),
      helps: z.string(),
      until: z.number().optional(),
      nextTry: z.number().optional(),
      command: z.string(),
    })
    .optional()
    .describe(
      "why no task of the run can continue, until when (milliseconds since 1970), what a person can do, and the command for it",
    ),
  limit: z
    .object({ kind: z.string(), value: z.number(), run: z.boolean().optional() })
    .optional()
    .describe("the limit that stopped the run: the output may be incomplete"),
  offline: z
    .literal(true)
    .optional()
    .describe("no key of a model provider was found: the offline model answered, which does not reason"),
  summaryChars,
  tasks: z.array(taskView),
  tasksLeftOut: z.number().optional().describe("how many tasks are not listed, because the result would be too long"),
  tokens: z.object({ input: z.number(), output: z.number() }),
  usd: z.number().describe("the known cost of the run"),
  ms: z.number(),
});
export type RunView = z.infer<typeof runView>;

/**
 * The current state of the run; outputs of single tasks only if there are several tasks. `answered`: the tasks whose
 * answers are kept until the run is resumed.
 */
export function viewOf(
  state: State,
  life: RunStatus | "damaged",
  now: number,
  answered: readonly string[] = [],
): RunView {
  const nodes = inPlanOrder(state);
  const questions = openQuestions(state);
  const { outcome, usage, cost } = state;
  const output = outcome && "output" in outcome ? outcome.output : undefined;
  return {
    run: state.run,
    status: life,
    ...defined({ name: state.name, output }),
    ...(outcome && "data" in outcome && outcome.data !== undefined && { data: outcome.data }),
    ...defined({ winner: winnerOf(state), approved: outcome?.approved, summaryChars: outcome?.summaryChars }),
    ...(outcome && isEnded(life) && errorOf(outcome)),
    ...(questions.length > 0 && {
      questions: questions.map(({ path, question, call, wants }) => ({
        path,
        question,
        about: wants === "words" ? ("question" as const) : call === undefined ? ("gate" as const) : ("call" as const),
        ...(answered.includes(path) && { answered: true as const }),
      })),
    }),
    ...(outcome?.limit && { limit: outcome.limit }),
    ...(life === "parked" && parkedIn(state)),
    ...defined({ offline: state.offline }),
    tasks: nodes.map(({ path, agent, status, doing, outcome: own }) => ({
      path,
      ...defined({ agent }),
      status: status !== "running" ? status : isLeftOut(state, path) ? "paused" : (STOPPED[life] ?? status),
      ...(status === "running" && STOPPED[life] === undefined && !isLeftOut(state, path) && doing !== "" && { doing }),
      ...(nodes.length > 1 &&
        own &&
        "output" in own &&
        own.output !== undefined && {
          output: own.output,
          ...defined({ summaryChars: own.summaryChars }),
        }),
    })),
    tokens: { input: usage.input + usage.cacheRead + usage.cacheWrite, output: usage.output },
    usd: cost.usd,
    ms: state.startedAt === 0 ? 0 : Math.max(0, (state.endedAt ?? now) - state.startedAt),
  };
}

/** How the unfinished tasks of a run are shown, instead of as running, when no process works on the run. */
const STOPPED: Readonly<Partial<Record<RunStatus | "damaged", string>>> = {
  paused: "paused",
  interrupted: "interrupted",
};

/** The task of a race whose output became the output of the run. */
function winnerOf({ plan, outcome }: State): string | undefined {
  const last = plan?.nodes[plan.output];
  const picks = last?.kind === "join" && last.pick === "first" && (last.count ?? 1) === 1;
  return picks && outcome?.status === "ok" ? outcome.from?.[0] : undefined;
}

function parkedIn(state: State): Pick<RunView, "parked"> {
  const found = parkedRun(state);
  if (!found) return {};
  const { tasks: _tasks, ...parked } = found;
  return { parked };
}

/** Orders nodes as in the plan, not by start time; tasks that agents started come after their parents. */
function inPlanOrder(state: State): NodeView[] {
  const order = Object.keys(state.plan?.nodes ?? {});
  const place = ({ path }: NodeView): number => order.indexOf(path.split(/[./]/)[0] ?? "") >>> 0;
  return shownNodes(state).toSorted((a, b) => place(a) - place(b));
}

const WHO_ANSWERS =
  "The user answers with `subcrew inbox`; a gate or a question of an agent can be answered with `answer`. Call `result` later.";

/** The state of a run as text for a model: its output, or why there is none. */
export function runText(view: RunView): string {
  return view.offline && isEnded(view.status) ? `${lifeText(view)}\n\n[${offlineNote}]` : lifeText(view);
}

function lifeText({ run, status, output = "", error, questions = [], parked, limit }: RunView): string {
  const asked = questions.map(({ path, question }) => `${run}/${path} asks: ${question}`);
  switch (status) {
    case "ok":
      return limit === undefined ? output : `${output}\n\n[${limitNote({ limit: limit as ReachedLimit })}]`;
    case "failed":
    case "cancelled": {
      const why = error === undefined ? status : `${error.message}${error.hint === undefined ? "" : ` ${error.hint}`}`;
      return [`${run} ${status === "failed" ? "failed" : "was cancelled"}: ${why}`, output]
        .filter(Boolean)
        .join("\n\n");
    }
    case "parked":
      return parked ? parkedText(run, parked) : `${run} is parked.`;
    case "paused":
      return [`${run} is paused. Resume it with \`subcrew resume ${run}\`.`, output].filter(Boolean).join("\n\n");
    case "interrupted":
    case "damaged":
      return `${run} is ${status}; see \`subcrew status ${run}\`.`;
    case "waiting":
      return [`${run} is waiting for an answer. ${WHO_ANSWERS}`, ...asked].join("\n");
    default:
      return [`${run} is ${status}. Call \`result\` later.`, ...asked].join("\n");
  }
}

function errorOf(outcome: NonNullable<State["outcome"]>): Pick<RunView, "error"> {
  if (outcome.status === "ok") return {};
  if (outcome.status !== "failed") return { error: { code: "CANCELLED", message: explain(outcome) } };
  const { code, message, hint } = outcome.fault;
  return { error: { code, message, ...defined({ hint }) } };
}

/** The text about a parked run: the reason, what helps, and how it continues. */
function parkedText(run: string, { why, helps, command, until, nextTry }: NonNullable<RunView["parked"]>): string {
  const at = until ?? nextTry;
  const alone =
    at === undefined
      ? ""
      : `The run continues by itself, at the earliest at ${new Date(at).toISOString()}; call \`result\` later.`;
  return [`${run} is parked: ${why}`, helps, alone, `To continue now: \`${command}\`.`]
    .filter((line) => line !== "")
    .join("\n");
}
