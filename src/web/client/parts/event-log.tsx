import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { LogLine } from "../wire.ts";
import { get, problemOf } from "./api.ts";
import { tell } from "./session.ts";
import { addEarlier, changeCount, keepWholeLog, type OpenRun } from "./stream.ts";
import { rowPlace, WindowedList } from "./window.tsx";

const ROW = 26;
/** The distance from the top, in pixels, at which earlier events are requested. */
const NEAR = 20 * ROW;

type Props = Readonly<{ run: OpenRun; selected: string; wanted: string }>;

/** Shows the recorded events, the newest last. It opens at the end; earlier events are loaded while scrolling. */
export function EventLog({ run, selected, wanted }: Props): JSX.Element {
  void changeCount.value;
  const box = useRef<HTMLDivElement>(null);
  const pinned = useSignal(true);
  const loading = useRef(false);
  const added = useRef(0);
  const isShown = ({ path, type, text }: LogLine): boolean =>
    (selected === "" || path === selected || path.startsWith(`${selected}/`) || path.startsWith(`${selected}.`)) &&
    (wanted === "" || `${type} ${path} ${text}`.toLowerCase().includes(wanted));
  const lines = selected === "" && wanted === "" ? run.log : run.log.filter(isShown);
  const first = run.log[0]?.seq ?? 1;

  const load = async (): Promise<void> => {
    if (loading.current || first <= 1) return;
    loading.current = true;
    try {
      const earlier = await get<readonly LogLine[]>("log", { run: run.id, before: String(first) });
      added.current += earlier.filter(isShown).length;
      addEarlier(run, earlier);
    } catch (error) {
      const { message, hint } = problemOf(error);
      tell(message, { hint, good: false });
    }
    loading.current = false;
  };
  const scrolled = (): void => {
    const { scrollTop, scrollHeight, clientHeight } = box.current!;
    pinned.value = scrollHeight - scrollTop - clientHeight < ROW;
    keepWholeLog(!pinned.value);
    if (scrollTop < NEAR) void load();
  };
  // Keeps the visible lines in place when lines are inserted above them.
  useLayoutEffect(() => {
    if (added.current > 0 && box.current) box.current.scrollTop += added.current * ROW;
    added.current = 0;
    // If a filter leaves too few lines to scroll, more are loaded.
    if (box.current && box.current.scrollHeight <= box.current.clientHeight + NEAR) void load();
  }, [first, selected, wanted]);
  useLayoutEffect(() => () => keepWholeLog(false), []);

  return (
    <WindowedList
      count={lines.length}
      rowHeight={ROW}
      {...(pinned.value && { keep: lines.length - 1 })}
      class="log"
      box={box}
      scrolled={scrolled}
      around="presentation"
      attributes={{ role: "log", tabIndex: 0, "aria-label": "Events of the run", "aria-live": "off" }}
      row={(at) => {
        const { seq, at: time, path, type, text } = lines[at]!;
        return (
          <div key={seq} class="log-row" data-seq={seq} style={rowPlace(at, ROW)}>
            <span class="number">{seq}</span>
            <time class="number">{clock(time)}</time>
            <span class="type">{type}</span>
            <span class="path" title={path}>
              {path}
            </span>
            <span class="text" title={text}>
              {text}
            </span>
          </div>
        );
      }}
    />
  );
}

/** One formatter for all lines, because creating a formatter is slow. */
const formatter = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const clock = (time: number): string => formatter.format(time);
