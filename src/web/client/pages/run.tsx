import { useSignal } from "@preact/signals";
import type { ComponentType, JSX, TargetedKeyboardEvent } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { ActionBar } from "../parts/actions.tsx";
import { ChangesView, DefinitionView, PromptView, TurnsView, WarningsView } from "../parts/details.tsx";
import { EventLog } from "../parts/event-log.tsx";
import { GraphView } from "../parts/graph.tsx";
import { Markdown } from "../parts/markdown.tsx";
import { go, linkTo, type Route, route, runLink } from "../parts/router.ts";
import { head, missing, type OpenRun, openRun, changeCount } from "../parts/stream.ts";
import { TimelineView } from "../parts/timeline.tsx";
import { TranscriptView } from "../parts/transcript.tsx";
import { TreeView } from "../parts/tree.tsx";
import { Elapsed, Empty, ErrorBox, LifeChip, projectName, Sign } from "../parts/words.tsx";
import type { RunHead, TaskRow } from "../wire.ts";

const views = ["tree", "graph", "timeline", "events"] as const;
const tabs = ["transcript", "changes", "prompt", "definition", "cost", "warnings"] as const;
type Tab = (typeof tabs)[number];

const parts: Readonly<
  Record<Exclude<Tab, "transcript">, ComponentType<Readonly<{ run: string; path: string; seq: number }>>>
> = {
  changes: ChangesView,
  prompt: PromptView,
  definition: DefinitionView,
  cost: TurnsView,
  warnings: WarningsView,
};

const selectedIn = ({ words }: Route): string => words.slice(1).join("/");

/** Shows one run: its tasks in four views that share one selection, and the details of the selected task. */
export function RunPage(): JSX.Element {
  const run = openRun.value;
  const top = head.value;
  if (missing.value)
    return (
      <section class="page">
        <h1>Run</h1>
        <ErrorBox problem={missing.value} />
        <p>
          <a href={linkTo("runs")}>All runs</a>
        </p>
      </section>
    );
  if (!run || !top)
    return (
      <section class="page">
        <h1>Run</h1>
        <p class="dim wait">Reading the run …</p>
      </section>
    );
  return <Shown run={run} top={top} />;
}

/** The part of the run that the address names, and ways to other parts. */
type RunPlace = Readonly<{
  view: (typeof views)[number];
  tab: Tab;
  turn: string;
  text: string;
  selected: string;
  set(path: string, more?: Readonly<Record<string, string>>): void;
  select(path: string): void;
}>;

function placeIn(run: OpenRun): RunPlace {
  const { query } = route.value;
  // The address can be newer than the drawn page, because a second key can follow before the page was redrawn.
  const set: RunPlace["set"] = (path, more = {}) => {
    const now = (name: string): string => route.value.query.get(name) ?? "";
    go(runLink(run.id, path, { view: now("view"), tab: now("tab"), text: now("text"), ...more }), true);
  };
  return {
    view: views.find((each) => each === query.get("view")) ?? "tree",
    tab: tabs.find((each) => each === query.get("tab")) ?? "transcript",
    turn: query.get("turn") ?? "",
    text: query.get("text") ?? "",
    selected: selectedIn(route.value),
    set,
    select: (path) => set(path, { turn: "" }),
  };
}

type Parts = Readonly<{ run: OpenRun; top: RunHead; place: RunPlace }>;

function Shown({ run, top }: Omit<Parts, "place">): JSX.Element {
  const place = placeIn(run);
  const { selected, set, select } = place;
  const whole = selected === "" && route.value.query.get("details") === "run";
  const detail = useRef<HTMLDivElement>(null);
  const selectRun = (): void => {
    set("", { details: "run" });
    detail.current?.focus({ preventScroll: true });
  };
  const open = (path: string): void => {
    select(path);
    detail.current?.focus();
  };
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        /^(?:INPUT|TEXTAREA|SELECT)$/.test((event.target as HTMLElement).tagName)
      )
        return;
      const chosen = views[Number(event.key) - 1];
      if (chosen) set(selectedIn(route.value), { view: chosen === "tree" ? "" : chosen });
      else if (event.key === "Escape" && !document.querySelector("dialog[open]")) {
        if (route.value.words.length < 2) go(linkTo("runs"));
        else select("");
      }
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
  return (
    <section class={`run-page ${selected === "" && !whole ? "" : "has-selection"}`} aria-labelledby="title">
      <RunHeader top={top} />
      <div class="panes">
        <TasksPane run={run} top={top} place={place} selectRun={selectRun} open={open} />
        <div class="right" ref={detail} tabIndex={-1} aria-label="Details">
          <DetailsPane run={run} top={top} place={place} />
        </div>
      </div>
    </section>
  );
}

function RunHeader({ top }: Pick<Parts, "top">): JSX.Element {
  return (
    <>
      <header class="run-head">
        <div class="run-title">
          <h1 id="title" title={top.name}>
            {top.name}
          </h1>
          <p class="facts">
            <LifeChip life={top.life} />
            <span title="tasks that are done">
              {top.done} of {top.total} done
            </span>
            <Elapsed from={top.startedAt} to={top.endedAt} />
            <span>{top.price || "free"}</span>
            <span>{top.tokens === "" ? "" : `${top.tokens} tokens`}</span>
            <span title={top.project}>{projectName(top.project)}</span>
            <code>{top.id}</code>
          </p>
        </div>
        {top.race.length > 1 ? (
          <a
            class="button"
            href={linkTo("compare", [], { a: `${top.id}/${top.race[0]!}`, b: `${top.id}/${top.race[1]!}` })}
          >
            Compare the tasks of the race
          </a>
        ) : null}
      </header>
      {top.problems.length === 0 ? null : (
        <ErrorBox
          problem={{ code: "DAMAGED", message: top.problems.join(" "), hint: "The readable part of the run is shown." }}
        />
      )}
      {top.offline ? (
        <p class="entry note warn">
          No key of a provider was found, so the agents of this run used the offline model, which does not reason.
        </p>
      ) : null}
    </>
  );
}

/** The tasks in the chosen view, with the buttons that choose the view and the search. */
function TasksPane({
  run,
  place,
  selectRun,
  open,
}: Parts & Readonly<{ selectRun(): void; open(path: string): void }>): JSX.Element {
  const { view, text, selected, set } = place;
  const search = view === "events" ? "Search events" : "Search tasks";
  return (
    <div class="left">
      <div class="toolbar">
        <div class="segments" role="group" aria-label="View">
          {views.map((each, at) => (
            <button
              type="button"
              key={each}
              aria-pressed={view === each}
              title={`${each} (${at + 1})`}
              onClick={() => set(selected, { view: each === "tree" ? "" : each })}
            >
              {each}
            </button>
          ))}
        </div>
        <input
          type="search"
          placeholder={search}
          aria-label={search}
          value={text}
          onInput={(event) => set(selected, { text: event.currentTarget.value })}
        />
        <button type="button" class="quiet" aria-pressed={selected === ""} onClick={selectRun}>
          whole run
        </button>
      </div>
      <div class="view">
        <TasksView run={run} place={place} open={open} />
      </div>
    </div>
  );
}

function TasksView({
  run,
  place: { view, text, selected, select },
  open,
}: Omit<Parts, "top"> & Readonly<{ open(path: string): void }>): JSX.Element {
  const closed = useSignal<ReadonlySet<string>>(new Set());
  const wanted = text.toLowerCase();
  const paths = useMemo(
    () => shownPaths(run, closed.value, wanted),
    [run.order, closed.value, wanted, wanted === "" ? 0 : changeCount.value],
  );
  const toggle = (path: string): void => {
    const next = new Set(closed.value);
    if (!next.delete(path)) next.add(path);
    closed.value = next;
  };
  if (view === "events") return <EventLog run={run} selected={selected} wanted={wanted} />;
  if (paths.length === 0)
    return (
      <Empty title={wanted === "" ? "Nothing has begun yet" : "No task matches"}>
        <p>
          {wanted === ""
            ? "The tasks appear here as soon as the run has its plan."
            : "Search for words of the task, its agent or its state."}
        </p>
      </Empty>
    );
  const shown = { run, paths, selected, select };
  if (view === "graph") return <RunGraph {...shown} />;
  if (view === "timeline") return <TimelineView {...shown} />;
  return <TreeView {...shown} closed={closed.value} toggle={toggle} open={open} />;
}

/** The details of the selected task, or of the whole run. */
function DetailsPane({ run, top, place }: Parts): JSX.Element {
  const { tab, selected, select } = place;
  const row = run.tasks.get(selected);
  const ended = top.life === "ok" || top.life === "failed" || top.life === "cancelled";
  return (
    <>
      <div class="detail-head">
        <button type="button" class="quiet back" onClick={() => select("")}>
          ← tasks
        </button>
        <h2>
          {row ? <Sign group={row.group} status={row.status} /> : null}
          {row ? row.name : "The whole run"}
        </h2>
        {row ? (
          <p class="dim facts">
            {row.agent === "" ? null : <span>{row.agent}</span>}
            {row.model === "" ? null : <span>{row.model}</span>}
            {row.turns === "" ? null : <span>{row.turns} turns</span>}
            {row.context === "" ? null : <span>{row.context} of its context</span>}
            <span>
              {row.status === "planned" ? `planned: ${row.doing}` : row.group === "waiting" ? row.doing : row.status}
            </span>
          </p>
        ) : null}
        <ActionBar
          run={run.id}
          path={row ? selected : ""}
          row={row}
          ended={ended || (row !== undefined && row.status !== "running" && row.status !== "planned")}
          state={`${top.life} ${row?.group ?? ""} ${row?.status ?? ""} ${row?.question ?? ""}`}
        />
        <Tabs top={top} place={place} />
      </div>
      <div class="detail-body" id="detail-body" role="tabpanel" aria-labelledby={`tab-${tab}`} tabIndex={0}>
        <Detail run={run} top={top} place={place} row={row} ended={ended} />
      </div>
    </>
  );
}

function Tabs({ top, place: { tab, selected, set } }: Omit<Parts, "run">): JSX.Element {
  const choose = (next: Tab): void => set(selected, { tab: next === "transcript" ? "" : next });
  // The tabs scroll sideways on a phone, so the selected one is scrolled into view.
  useEffect(
    () => document.getElementById(`tab-${tab}`)?.scrollIntoView({ block: "nearest", inline: "nearest" }),
    [tab, selected],
  );
  return (
    <div class="tabs" role="tablist" aria-label="Details">
      {tabs.map((each) => (
        <button
          type="button"
          role="tab"
          key={each}
          id={`tab-${each}`}
          aria-selected={tab === each}
          aria-controls="detail-body"
          tabIndex={tab === each ? 0 : -1}
          onClick={() => choose(each)}
          onKeyDown={(event) => moveTab(event, each, choose)}
        >
          {each}
          {each === "warnings" && top.warnings.length > 0 ? <span class="badge">{top.warnings.length}</span> : null}
        </button>
      ))}
    </div>
  );
}

function Detail({
  run,
  top,
  place: { tab, turn, view, selected },
  row,
  ended,
}: Parts & Readonly<{ row: TaskRow | undefined; ended: boolean }>): JSX.Element {
  if (tab !== "transcript") {
    const Part = parts[tab];
    const seq = row?.status === "running" || !ended ? Math.floor(top.seq / 20) : top.seq;
    return <Part run={run.id} path={row ? selected : ""} seq={seq} />;
  }
  if (!row) return <WholeRun run={run} top={top} />;
  const linkToTurn = (each: number): string =>
    runLink(run.id, selected, { view: view === "tree" ? "" : view, turn: String(each) });
  return <TranscriptView run={run.id} path={selected} row={row} seq={row.seq} turn={turn} linkToTurn={linkToTurn} />;
}

function moveTab(event: TargetedKeyboardEvent<HTMLElement>, from: Tab, to: (tab: Tab) => void): void {
  const step = ({ ArrowRight: 1, ArrowLeft: -1 } as Readonly<Record<string, number>>)[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const next = tabs[(tabs.indexOf(from) + step + tabs.length) % tabs.length]!;
  to(next);
  document.getElementById(`tab-${next}`)?.focus();
}

/** Shows the result of a run, or its current state. */
function WholeRun({ run, top }: Readonly<{ run: OpenRun; top: RunHead }>): JSX.Element {
  void changeCount.value;
  const asking = [...run.tasks.values()].filter(({ group }) => group === "needs you");
  return (
    <div class="transcript">
      {top.continues === undefined ? null : (
        <p class="entry note">
          It continues{" "}
          <a href={runLink(top.continues.split("/")[0]!, top.continues.split("/").slice(1).join("/"))}>
            {top.continues}
          </a>
          .
        </p>
      )}
      {asking.map(({ path, name }) => (
        <p class="entry note warn" key={path}>
          <a href={runLink(run.id, path)}>{name}</a> needs you.
        </p>
      ))}
      {top.result === "" ? (
        <p class="dim">
          {top.doing === "" ? "The run is working." : `${top.doing}.`} Select a task to read what it does.
        </p>
      ) : (
        <article class={`entry end ${top.life}`}>
          <h3>{top.life === "ok" ? "Result" : top.life}</h3>
          <Markdown text={top.result} />
        </article>
      )}
    </div>
  );
}

function RunGraph({
  run,
  paths,
  selected,
  select,
}: Readonly<{ run: OpenRun; paths: readonly string[]; selected: string; select(path: string): void }>): JSX.Element {
  void changeCount.value;
  const nodes = paths.flatMap((path) => {
    const row = run.tasks.get(path);
    return row
      ? [
          {
            id: path,
            needs: row.needs,
            title: row.name,
            detail: row.doing || row.agent,
            group: row.group,
            status: row.status,
          },
        ]
      : [];
  });
  return (
    <GraphView nodes={nodes} label="Graph of the tasks" selected={selected} select={select} shape={paths.join("\n")} />
  );
}

/**
 * The paths of the rows that match the search; without a search, of the rows that are not inside a collapsed branch.
 */
function shownPaths(run: OpenRun, closed: ReadonlySet<string>, wanted: string): readonly string[] {
  const hidden = new Set<string>();
  return run.order.filter((path) => {
    const row = run.tasks.get(path);
    if (!row) return false;
    if (wanted !== "")
      return [row.name, row.agent, row.model, row.status, row.group, row.path, row.doing].some((text) =>
        text.toLowerCase().includes(wanted),
      );
    const inside = hidden.has(row.parent);
    if (inside || closed.has(path)) hidden.add(path);
    return !inside;
  });
}
