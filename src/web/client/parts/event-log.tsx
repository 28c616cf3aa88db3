import type { JSX } from "preact";
import { type OpenRun, changeCount } from "./stream.ts";
import { rowPlace, WindowedList } from "./window.tsx";

const ROW = 26;

/** The recorded events, the newest last. */
export function EventLog({ run, selected }: Readonly<{ run: OpenRun; selected: string }>): JSX.Element {
  void changeCount.value;
  const lines =
    selected === ""
      ? run.log
      : run.log.filter(
          ({ path }) => path === selected || path.startsWith(`${selected}/`) || path.startsWith(`${selected}.`),
        );
  return (
    <WindowedList
      count={lines.length}
      rowHeight={ROW}
      keep={lines.length - 1}
      class="log"
      around="presentation"
      attributes={{ role: "log", tabIndex: 0, "aria-label": "Events of the run", "aria-live": "off" }}
      row={(at) => {
        const { seq, at: time, path, type, text } = lines[at]!;
        return (
          <div key={seq} class="log-row" data-seq={seq} style={rowPlace(at, ROW)}>
            <span class="number">{seq}</span>
            <time class="number">{new Date(time).toLocaleTimeString()}</time>
            <span class="type">{type}</span>
            <span class="path">{path}</span>
            <span class="text">{text}</span>
          </div>
        );
      }}
    />
  );
}
