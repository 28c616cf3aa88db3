import { type Signal, useSignal } from "@preact/signals";
import type { JSX, TargetedKeyboardEvent } from "preact";
import { useMemo } from "preact/hooks";
import { get, problemOf } from "../parts/api.ts";
import { go, linkTo, route, runLink } from "../parts/router.ts";
import { tell } from "../parts/session.ts";
import { loaded, older, order, runRows } from "../parts/stream.ts";
import { Ago, Command, Elapsed, Empty, LifeChip, projectName, Sign } from "../parts/words.tsx";
import { rowPlace, WindowedList } from "../parts/window.tsx";
import type { RunRow } from "../wire.ts";

const ROW = 60;
const states = ["all", "open", "needs you", "failed", "done"] as const;
type Wanted = (typeof states)[number];

const fits: Readonly<Record<Wanted, (row: RunRow) => boolean>> = {
  all: () => true,
  open: ({ group }) => group === "needs you" || group === "working" || group === "waiting",
  "needs you": ({ group }) => group === "needs you",
  failed: ({ group }) => group === "failed",
  done: ({ group }) => group === "done",
};

/** Shows all runs; runs that need a person come first. */
export function RunsPage(): JSX.Element {
  const { query } = route.value;
  const text = query.get("text") ?? "";
  const project = query.get("project") ?? "";
  const state = states.find((each) => each === query.get("state")) ?? "all";
  const earlier = useSignal<readonly RunRow[]>([]);
  const chosen = useSignal<readonly string[]>([]);
  const busy = useSignal(false);
  const set = (more: Readonly<Record<string, string>>): void =>
    go(linkTo("runs", [], { text, project, state: state === "all" ? "" : state, ...more }), true);

  const all = [
    ...order.value.flatMap((id) => runRows.value.get(id) ?? []),
    ...earlier.value.filter(({ id }) => !runRows.value.has(id)),
  ];
  const projects = [...new Set(all.map((row) => row.project))].sort();
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = useMemo(
    () =>
      all
        .filter(fits[state])
        .filter((row) => project === "" || row.project === project)
        .filter((row) => words.every((word) => searchText(row).includes(word)))
        .toSorted((a, b) => rank(a) - rank(b) || b.startedAt - a.startedAt),
    [runRows.value, order.value, earlier.value, text, project, state],
  );
  const load = async (): Promise<void> => {
    busy.value = true;
    try {
      const before = earlier.value.at(-1)?.id ?? "";
      const found = await get<Readonly<{ runs: readonly RunRow[]; more: boolean }>>("runs", { before, text });
      earlier.value = [...earlier.value, ...found.runs];
      if (found.runs.length === 0) tell("No older run matches.");
    } catch (error) {
      tell(problemOf(error).message, { good: false });
    }
    busy.value = false;
  };
  const unread = older.value - earlier.value.length;

  return (
    <section class="page list-page" aria-labelledby="title">
      <div class="page-head">
        <h1 id="title">Runs</h1>
        <a class="button primary" href={linkTo("start")}>
          New run
        </a>
      </div>
      <Filters filter={{ text, project, state }} set={set} projects={projects} chosen={chosen.value} />
      {!loaded.value ? (
        <p class="dim wait">Reading the runs …</p>
      ) : all.length === 0 ? (
        <Empty title="No runs yet">
          <p>A run is the work of one or several agents. Start a run here, or in a terminal:</p>
          <Command line={'subcrew run explore "What does this project do?"'} />
          <p>
            <a class="button primary" href={linkTo("start")}>
              Start a run
            </a>
          </p>
        </Empty>
      ) : shown.length === 0 ? (
        <Empty title="No run matches">
          <p>
            <button type="button" onClick={() => set({ text: "", project: "", state: "" })}>
              Clear the filter
            </button>
            {unread > 0 ? (
              <button type="button" onClick={() => void load()} disabled={busy.value}>
                Search {unread} older runs
              </button>
            ) : null}
          </p>
        </Empty>
      ) : (
        <RunList shown={shown} chosen={chosen} />
      )}
      {loaded.value && unread > 0 && shown.length > 0 ? (
        <p class="more">
          <button type="button" onClick={() => void load()} disabled={busy.value}>
            {busy.value ? "Reading …" : `Load older runs (${unread})`}
          </button>
        </p>
      ) : null}
    </section>
  );
}

const ranks: Readonly<Record<RunRow["group"], number>> = { "needs you": 0, working: 1, waiting: 2, failed: 3, done: 3 };
const rank = ({ group }: RunRow): number => ranks[group];

const searchText = ({ id, name, project, agents, models, life, doing }: RunRow): string =>
  [id, name, project, ...agents, ...models, life, doing].join(" ").toLowerCase();

type Filter = Readonly<{ text: string; project: string; state: Wanted }>;

function Filters({
  filter: { text, project, state },
  set,
  projects,
  chosen,
}: Readonly<{
  filter: Filter;
  set(more: Readonly<Record<string, string>>): void;
  projects: readonly string[];
  chosen: readonly string[];
}>): JSX.Element {
  return (
    <div class="filters">
      <input
        type="search"
        placeholder="Search runs, agents, models, folders"
        aria-label="Search runs"
        value={text}
        onInput={(event) => set({ text: event.currentTarget.value })}
      />
      <div class="segments" role="group" aria-label="State">
        {states.map((each) => (
          <button
            type="button"
            key={each}
            aria-pressed={state === each}
            onClick={() => set({ state: each === "all" ? "" : each })}
          >
            {each}
          </button>
        ))}
      </div>
      <select aria-label="Project" value={project} onChange={(event) => set({ project: event.currentTarget.value })}>
        <option value="">all projects</option>
        {projects.map((each) => (
          <option key={each} value={each} title={each}>
            {projectName(each)}
          </option>
        ))}
      </select>
      {chosen.length === 2 ? (
        <a class="button" href={linkTo("compare", [], { a: chosen[0]!, b: chosen[1]! })}>
          Compare 2
        </a>
      ) : (
        <span class="dim compare-hint">{chosen.length === 1 ? "choose one more to compare" : ""}</span>
      )}
    </div>
  );
}

/** The runs that match the filter; the keyboard selects one, and chooses two for a comparison. */
function RunList({
  shown,
  chosen,
}: Readonly<{ shown: readonly RunRow[]; chosen: Signal<readonly string[]> }>): JSX.Element {
  const selected = useSignal(-1);
  const press = (event: TargetedKeyboardEvent<HTMLElement>): void => {
    const last = shown.length - 1;
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: selected.value + 1,
      j: selected.value + 1,
      ArrowUp: selected.value - 1,
      k: selected.value - 1,
      Home: 0,
      End: last,
    };
    const next = moves[event.key];
    if (next !== undefined) {
      event.preventDefault();
      selected.value = Math.max(0, Math.min(last, next));
    } else if (event.key === "Enter" && shown[selected.value]) go(runLink(shown[selected.value]!.id));
    else if (event.key === "x" && shown[selected.value]) choose(shown[selected.value]!.id);
  };
  const choose = (id: string): void => {
    chosen.value = chosen.value.includes(id)
      ? chosen.value.filter((each) => each !== id)
      : [...chosen.value, id].slice(-2);
  };
  return (
    <WindowedList
      count={shown.length}
      rowHeight={ROW}
      keep={selected.value}
      class="runs"
      attributes={{
        role: "grid",
        tabIndex: 0,
        "aria-label": "Runs",
        "aria-rowcount": shown.length,
        "aria-activedescendant": shown[selected.value] ? `run-${shown[selected.value]!.id}` : undefined,
        onKeyDown: press,
        onFocus: () => {
          if (selected.value < 0) selected.value = 0;
        },
      }}
      row={(at) => {
        const row = shown[at]!;
        return (
          <Row
            key={row.id}
            row={row}
            at={at}
            selected={at === selected.value}
            chosen={chosen.value.includes(row.id)}
            choose={() => choose(row.id)}
          />
        );
      }}
    />
  );
}

type RowProps = Readonly<{ row: RunRow; at: number; selected: boolean; chosen: boolean; choose(): void }>;

function Row({ row, at, selected, chosen, choose }: RowProps): JSX.Element {
  const { id, name, life, group, doing, project, agents, done, total, price, startedAt, endedAt } = row;
  return (
    <div
      id={`run-${id}`}
      role="row"
      aria-selected={selected}
      aria-rowindex={at + 1}
      class={`run-row ${selected ? "selected" : ""}`}
      style={rowPlace(at, ROW)}
      onClick={(event) => {
        if (!(event.target as HTMLElement).closest("label")) go(runLink(id));
      }}
    >
      <span role="gridcell" class="choose">
        <label title="Choose for a comparison (x)">
          <input type="checkbox" tabIndex={-1} checked={chosen} onChange={choose} aria-label={`Compare ${name}`} />
        </label>
      </span>
      <Sign group={group} status={life} />
      <span role="gridcell" class="what">
        <span class="name">{name}</span>
        <span class="doing">
          {group === "working" || group === "needs you" || group === "waiting" || group === "failed"
            ? doing
            : agents.join(", ")}
        </span>
      </span>
      <span role="gridcell">
        <LifeChip life={life} />
      </span>
      <span role="gridcell" class="number tasks" title="tasks that are done">
        {done}/{total}
      </span>
      <span role="gridcell" class="number price">
        {price || "–"}
      </span>
      <span role="gridcell" class="project" title={project}>
        {projectName(project)}
      </span>
      <span role="gridcell" class="times">
        <Elapsed from={startedAt} to={endedAt} />
        <Ago at={startedAt} />
      </span>
    </div>
  );
}
