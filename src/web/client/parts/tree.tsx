import type { JSX, TargetedKeyboardEvent } from "preact";
import { useMemo } from "preact/hooks";
import type { TaskRow } from "../wire.ts";
import { type OpenRun, changeCount } from "./stream.ts";
import { Elapsed, Sign } from "./words.tsx";
import { rowPlace, WindowedList } from "./window.tsx";

const ROW = 34;
const HEADING = 30;

/** The properties of every view of the tasks; all views share one selection. */
export type ViewProps = Readonly<{
  run: OpenRun;
  /** The paths to show, in order. */
  paths: readonly string[];
  selected: string;
  select(path: string): void;
}>;

type TreeProps = ViewProps &
  Readonly<{ closed: ReadonlySet<string>; toggle(path: string): void; open(path: string): void }>;

/** Shows the tasks as a tree in a table. Everything can be reached from it, also with the keyboard. */
export function TreeView({ run, paths, selected, select, closed, toggle, open }: TreeProps): JSX.Element {
  void changeCount.value;
  const parents = useMemo(
    () => new Set(run.order.map((path) => run.tasks.get(path)?.parent ?? "")),
    [run.order, changeCount.value],
  );
  const at = paths.indexOf(selected);
  const move = (to: number): void => {
    const path = paths[Math.max(0, Math.min(paths.length - 1, to))];
    if (path !== undefined) select(path);
  };
  const press = (event: TargetedKeyboardEvent<HTMLElement>): void => {
    const row = run.tasks.get(selected);
    const keys: Readonly<Record<string, () => void>> = {
      ArrowDown: () => move(at + 1),
      j: () => move(at + 1),
      ArrowUp: () => move(at - 1),
      k: () => move(at - 1),
      PageDown: () => move(at + 15),
      PageUp: () => move(at - 15),
      Home: () => move(0),
      End: () => move(paths.length - 1),
      ArrowRight: () => (closed.has(selected) ? toggle(selected) : parents.has(selected) ? move(at + 1) : undefined),
      ArrowLeft: () =>
        parents.has(selected) && !closed.has(selected)
          ? toggle(selected)
          : row?.parent
            ? select(row.parent)
            : undefined,
      Enter: () => open(selected),
    };
    const act = keys[event.key];
    if (!act || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    act();
  };
  return (
    <WindowedList
      count={paths.length}
      rowHeight={ROW}
      keep={at}
      class="tree"
      headingHeight={HEADING}
      attributes={{
        role: "treegrid",
        tabIndex: 0,
        "aria-label": "Tasks",
        "aria-rowcount": paths.length + 1,
        "aria-activedescendant": at >= 0 ? `task-${at}` : undefined,
        onKeyDown: press,
      }}
      heading={
        <div role="rowgroup" class="heading">
          <div role="row" aria-rowindex={1} class="task-row">
            {["Task", "Agent", "Doing", "Turns", "Context", "Tokens", "Cost", "Lines", "Time"].map((title) => (
              <span role="columnheader" key={title} class={`cell ${title.toLowerCase()}`}>
                {title}
              </span>
            ))}
          </div>
        </div>
      }
      row={(index) => {
        const row = run.tasks.get(paths[index]!);
        return row ? (
          <TaskLine
            key={row.path}
            row={row}
            at={index}
            selected={row.path === selected}
            branch={parents.has(row.path) ? (closed.has(row.path) ? "closed" : "open") : "none"}
            select={select}
            toggle={toggle}
          />
        ) : null;
      }}
    />
  );
}

type LineProps = Readonly<{
  row: TaskRow;
  at: number;
  selected: boolean;
  branch: "open" | "closed" | "none";
  select(path: string): void;
  toggle(path: string): void;
}>;

function TaskLine({ row, at, selected, branch, select, toggle }: LineProps): JSX.Element {
  // Returning the same element again lets Preact skip a row that has not changed.
  return useMemo(() => {
    const { path, depth, name, agent, model, group, status, doing, turns, context, tokens, price, diff } = row;
    return (
      <div
        id={`task-${at}`}
        role="row"
        aria-rowindex={at + 2}
        aria-level={depth + 1}
        aria-selected={selected}
        aria-expanded={branch === "none" ? undefined : branch === "open"}
        class={`task-row ${selected ? "selected" : ""} ${group.replace(" ", "-")}`}
        style={rowPlace(at, ROW)}
        onClick={() => select(path)}
      >
        <span role="gridcell" class="cell task" style={{ paddingLeft: `${Math.min(depth, 8) * 16}px` }} title={name}>
          <span
            class={`branch ${branch}`}
            aria-hidden="true"
            onClick={(event) => {
              event.stopPropagation();
              if (branch !== "none") toggle(path);
            }}
          />
          <Sign group={group} status={status} />
          <span class="unseen">{status === "planned" ? "planned" : group}: </span>
          <span class="name">{name}</span>
        </span>
        <span role="gridcell" class="cell agent" title={model === "" ? agent : `${agent} on ${model}`}>
          {agent}
        </span>
        <span role="gridcell" class="cell doing" title={doing}>
          {doing}
        </span>
        <span role="gridcell" class="cell turns number">
          {turns}
        </span>
        <span role="gridcell" class="cell context number">
          {context}
        </span>
        <span role="gridcell" class="cell tokens number">
          {tokens}
        </span>
        <span role="gridcell" class="cell cost number">
          {price}
        </span>
        <span role="gridcell" class="cell lines number">
          {diff ? (
            <>
              <ins>+{diff.added}</ins> <del>-{diff.removed}</del>
            </>
          ) : null}
        </span>
        <span role="gridcell" class="cell time">
          <Elapsed from={row.startedAt} to={row.endedAt} />
        </span>
      </div>
    );
  }, [row, at, selected, branch]);
}
