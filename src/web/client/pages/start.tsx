import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { sendPost, problemOf } from "../parts/api.ts";
import { type FormValue, ObjectFields } from "../parts/form.tsx";
import { GraphView } from "../parts/graph.tsx";
import { useLoaded } from "../parts/load.tsx";
import { go, linkTo, route, runLink } from "../parts/router.ts";
import { sendChange, mayChange } from "../parts/session.ts";
import { CopyCommand, ErrorBox } from "../parts/words.tsx";
import type { PlanPreview, StartOptions, WebProblem } from "../wire.ts";

const PREVIEW_AFTER_MS = 400;

/** The initial input of each mode, so that the form shows its fields. */
const beginnings: Readonly<Record<string, (agent: string) => FormValue>> = {
  single: (agent) => ({ agent }),
  parallel: (agent) => ({ tasks: [{ agent }, { agent }] }),
  chain: (agent) => ({ chain: [{ agent }, { agent, task: "{previous}" }] }),
  race: (agent) => ({ race: { agents: [agent, "general"] } }),
  team: (agent) => ({ team: { members: [{ role: "worker", agent }], tasks: [{ id: "work", assignee: "worker" }] } }),
};

/** Shows a form for a new run, and the plan of its input. */
export function StartPage(): JSX.Element {
  const options = useLoaded<StartOptions>("start", {});
  const { value, problem } = options.value;
  if (!mayChange())
    return (
      <section class="page">
        <h1>Start</h1>
        <ErrorBox
          problem={{
            code: "REFUSED",
            message: "This link is read-only.",
            hint: "To start runs, use the link with full access that `subcrew web` printed.",
          }}
        />
      </section>
    );
  if (!value)
    return (
      <section class="page">
        <h1>Start</h1>
        {problem ? <ErrorBox problem={problem} /> : <p class="dim wait">Looking for agents …</p>}
      </section>
    );
  return <StartForm options={value} />;
}

function StartForm({ options }: Readonly<{ options: StartOptions }>): JSX.Element {
  const { words, query } = route.value;
  const chosen = options.modes.find(({ mode }) => mode === words[0]) ?? options.modes[0]!;
  const { mode, schema } = chosen;
  const agent =
    query.get("agent") ??
    (options.agents.some(({ name }) => name === "explore") ? "explore" : (options.agents[0]?.name ?? ""));
  const inputs = useSignal<Readonly<Record<string, FormValue>>>({});
  const more = useSignal<FormValue>({});
  const cwd = useSignal(options.cwd);
  const busy = useSignal(false);
  const input = (inputs.value[mode] ?? beginnings[mode]?.(agent) ?? {}) as Record<string, unknown>;
  const body = { cwd: cwd.value, input: { ...input, mode }, options: more.value };
  const touched = inputs.value[mode] !== undefined;

  const { plan, problem } = usePreview(mode, touched ? body : undefined);

  const start = async (): Promise<void> => {
    busy.value = true;
    const done = await sendChange("start", body);
    busy.value = false;
    if (done?.run !== undefined) go(runLink(done.run));
  };
  const lists = { agent: "known-agents", agents: "known-agents", model: "known-models", models: "known-models" };
  return (
    <section class="page start-page" aria-labelledby="title">
      <h1 id="title">Start</h1>
      <datalist id="known-agents">
        {options.agents.map(({ name, description }) => (
          <option key={name} value={name} label={description} />
        ))}
      </datalist>
      <datalist id="known-models">
        {options.models.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <div class="segments modes" role="group" aria-label="Mode">
        {options.modes.map((each) => (
          <button
            type="button"
            key={each.mode}
            aria-pressed={each.mode === mode}
            onClick={() => go(linkTo("start", [each.mode]), true)}
          >
            {each.mode}
          </button>
        ))}
      </div>
      <p class="dim">{chosen.what}</p>
      <div class="two-panes">
        <form
          class="start-form"
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            void start();
          }}
        >
          <ObjectFields
            key={mode}
            schema={schema}
            value={input}
            lists={lists}
            set={(next) => {
              inputs.value = { ...inputs.value, [mode]: next };
            }}
          />
          <fieldset>
            <legend>the run</legend>
            <label class="field">
              <span class="label">folder</span>
              <input
                type="text"
                list="known-folders"
                value={cwd.value}
                onInput={(event) => (cwd.value = event.currentTarget.value)}
              />
              <span class="dim help">where the agents work</span>
            </label>
            <datalist id="known-folders">
              {options.projects.map((folder) => (
                <option key={folder} value={folder} />
              ))}
            </datalist>
            <ObjectFields schema={options.options} value={more.value} lists={{}} set={(next) => (more.value = next)} />
          </fieldset>
          <div class="buttons">
            <button type="submit" class="primary" disabled={busy.value || plan === undefined || problem !== undefined}>
              {busy.value ? "Starting …" : "Start the run"}
            </button>
            {plan ? <CopyCommand command={plan.command} /> : null}
          </div>
        </form>
        <PlanPane plan={plan} problem={problem} />
      </div>
    </section>
  );
}

type Preview = Readonly<{ plan: PlanPreview | undefined; problem: WebProblem | undefined }>;

/** The plan of an input, shortly after it was changed. An empty form (no `body`) is not a mistake and has no plan. */
function usePreview(mode: string, body: object | undefined): Preview {
  const preview = useSignal<Preview>({ plan: undefined, problem: undefined });
  useEffect(() => {
    preview.value = { plan: undefined, problem: undefined };
  }, [mode]);
  useEffect(() => {
    if (!body) return;
    let over = false;
    const timer = setTimeout(() => {
      sendPost<PlanPreview>("plan", body).then(
        (plan) => {
          if (!over) preview.value = { plan, problem: undefined };
        },
        (error: unknown) => {
          if (!over) preview.value = { plan: preview.value.plan, problem: problemOf(error) };
        },
      );
    }, PREVIEW_AFTER_MS);
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [JSON.stringify(body)]);
  return preview.value;
}

function PlanPane({ plan, problem }: Preview): JSX.Element {
  return (
    <div class="pane plan-pane" aria-live="polite">
      <h2>The plan</h2>
      {problem ? <ErrorBox problem={problem} /> : null}
      {plan?.notes.map((text) => (
        <p class="entry note warn" key={text}>
          {text}
        </p>
      ))}
      {plan ? (
        <>
          <GraphView
            label="The plan as a graph"
            shape={JSON.stringify(plan.nodes.map(({ id, needs }) => [id, needs]))}
            nodes={plan.nodes.map(({ id, kind, agent: who, text, needs }) => ({
              id,
              needs,
              title: id,
              detail: who === "" ? text : `${who}: ${text}`,
              group: kind === "gate" ? "needs you" : "waiting",
              status: kind,
            }))}
          />
          <p class="dim">
            {plan.nodes.filter(({ kind }) => kind === "task").length} tasks. The run works in the background and
            continues when this page is closed.
          </p>
        </>
      ) : (
        <p class="dim">Write a task: the plan appears here as a graph before anything runs.</p>
      )}
    </div>
  );
}
