import type { JSX, TargetedKeyboardEvent } from "preact";
import { useMemo } from "preact/hooks";
import { formatDuration } from "../../../core/text/duration.ts";
import { timeScale } from "../../../core/view/time-scale.ts";
import type { TaskRow } from "../wire.ts";
import { head, now, changeCount } from "./stream.ts";
import type { ViewProps } from "./tree.tsx";
import { rowPlace, WindowedList } from "./window.tsx";

const ROW = 30;
const HEADING = 28;

/** Shows when each task waited and worked. Long pauses without any work are shortened. */
export function TimelineView({ run, paths, selected, select }: ViewProps): JSX.Element {
  void changeCount.value;
  const start = head.value?.startedAt ?? 0;
  const end = head.value?.endedAt ?? now.value;
  const scale = useMemo(() => {
    const work = [...run.tasks.values()].flatMap(({ startedAt, endedAt, status }) =>
      startedAt === undefined || status === "planned" ? [] : [{ from: startedAt, to: endedAt ?? end }],
    );
    return timeScale(work, start, end);
  }, [changeCount.value, end]);
  const at = paths.indexOf(selected);
  const press = (event: TargetedKeyboardEvent<HTMLElement>): void => {
    const step = ({ ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 } as Readonly<Record<string, number>>)[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const path = paths[Math.max(0, Math.min(paths.length - 1, at + step))];
    if (path !== undefined) select(path);
  };
  return (
    <WindowedList
      count={paths.length}
      rowHeight={ROW}
      keep={at}
      class="timeline"
      headingHeight={HEADING}
      around="presentation"
      attributes={{
        role: "listbox",
        tabIndex: 0,
        "aria-label": "Timeline of the tasks",
        "aria-activedescendant": at >= 0 ? `bar-${at}` : undefined,
        onKeyDown: press,
      }}
      heading={
        <div class="heading" role="presentation">
          <span class="legend">
            <i class="waited" /> waited <i class="worked" /> worked
          </span>
          <span class="span">
            <span>0s</span>
            {scale.pauses.map(({ at: place, ms }) => (
              <span
                class="pause"
                key={place}
                style={{ left: `${place * 100}%` }}
                title="no task worked in this time; drawn shortened"
              >
                ⋯ {formatDuration(ms, "spaced")}
              </span>
            ))}
            <span class="end">{formatDuration(end - start, "spaced")}</span>
          </span>
        </div>
      }
      row={(index) => {
        const row = run.tasks.get(paths[index]!);
        return row ? (
          <Bar
            key={row.path}
            row={row}
            at={index}
            place={scale.place}
            end={end}
            selected={row.path === selected}
            select={select}
          />
        ) : null;
      }}
    />
  );
}

type BarProps = Readonly<{
  row: TaskRow;
  at: number;
  place(time: number): number;
  end: number;
  selected: boolean;
  select(path: string): void;
}>;

function Bar({ row, at, place, end, selected, select }: BarProps): JSX.Element {
  const { path, name, depth, group, startedAt, endedAt, readyAt, status } = row;
  const begun = startedAt !== undefined && status !== "planned";
  const from = begun ? place(startedAt) : 1;
  const to = begun ? place(endedAt ?? end) : 1;
  const ready = begun ? place(readyAt ?? startedAt) : 1;
  const worked = begun ? formatDuration((endedAt ?? end) - startedAt, "spaced") : "";
  const waited =
    begun && readyAt !== undefined && startedAt - readyAt >= 1_000
      ? `, waited ${formatDuration(startedAt - readyAt, "spaced")}`
      : "";
  // The label is beside the bar if there is room, otherwise inside it.
  const side = to <= 0.75 ? "after" : ready >= 0.25 ? "before" : "inside";
  const places = {
    after: { left: `${to * 100}%` },
    before: { right: `${(1 - ready) * 100}%` },
    inside: { right: `${(1 - to) * 100}%` },
  };
  return (
    <div
      id={`bar-${at}`}
      role="option"
      aria-selected={selected}
      class={`bar-row ${selected ? "selected" : ""}`}
      style={rowPlace(at, ROW)}
      onClick={() => select(path)}
    >
      <span class="name" style={{ paddingLeft: `${Math.min(depth, 8) * 12}px` }} title={name}>
        {name}
      </span>
      <span class="track">
        {begun ? (
          <>
            <i class="waited" style={{ left: `${ready * 100}%`, width: `${Math.max(0, from - ready) * 100}%` }} />
            <i
              class={`worked ${group.replace(" ", "-")}`}
              style={{ left: `${from * 100}%`, width: `max(3px, ${(to - from) * 100}%)` }}
            />
            <span class={`length ${side}`} style={places[side]}>
              {worked}
              {waited}
            </span>
          </>
        ) : (
          <span class="length dim">{group === "done" ? "was not started" : "not started yet"}</span>
        )}
      </span>
    </div>
  );
}
