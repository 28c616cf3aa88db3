import { effect, signal } from "@preact/signals";
import { type ComponentType, type JSX, render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { AgentsPage } from "../pages/agents.tsx";
import { ComparePage } from "../pages/compare.tsx";
import { CostPage } from "../pages/cost.tsx";
import { NeedsPage } from "../pages/needs.tsx";
import { RunPage } from "../pages/run.tsx";
import { RunsPage } from "../pages/runs.tsx";
import { StartPage } from "../pages/start.tsx";
import { get } from "../parts/api.ts";
import { hello, toast } from "../parts/session.ts";
import { go, linkTo, route } from "../parts/router.ts";
import { connection, needs, watchRuns } from "../parts/stream.ts";
import type { Hello } from "../wire.ts";

const pages: Readonly<Record<string, ComponentType>> = {
  needs: NeedsPage,
  runs: RunsPage,
  run: RunPage,
  compare: ComparePage,
  agents: AgentsPage,
  start: StartPage,
  cost: CostPage,
};

/** The pages in the navigation bar, each with its key after `g`. */
const bar = [
  ["needs", "Needs you", "n"],
  ["runs", "Runs", "r"],
  ["start", "Start", "s"],
  ["agents", "Agents", "a"],
  ["cost", "Cost", "c"],
] as const;

const keysShown = signal(false);

function App(): JSX.Element {
  const { page } = route.value;
  const Page = pages[page] ?? RunsPage;
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  useEffect(() => {
    if (first.current) first.current = false;
    else main.current?.focus({ preventScroll: true });
  }, [page]);
  const count = needs.value.length;
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to the page
      </a>
      <header class="bar">
        <a class="brand" href={linkTo("runs")} aria-label="subcrew">
          <img src="icon.svg" alt="" width="22" height="22" />
          <span>subcrew</span>
        </a>
        <nav aria-label="Pages">
          {bar.map(([name, title, key]) => (
            <a
              key={name}
              href={linkTo(name)}
              aria-current={
                page === name || (name === "runs" && (page === "run" || page === "compare")) ? "page" : undefined
              }
              title={`${title} (g ${key})`}
            >
              {title}
              {name === "needs" ? (
                <span class={`badge ${count === 0 ? "none" : ""}`} aria-label={`${count} open`}>
                  {count}
                </span>
              ) : null}
            </a>
          ))}
        </nav>
        <span class={`live ${connection.value}`} role="status">
          {connection.value === "open" ? "live" : connection.value === "lost" ? "reconnecting" : "connecting"}
        </span>
        <button
          type="button"
          class="quiet keys-button"
          onClick={() => {
            keysShown.value = true;
          }}
          aria-label="Keyboard shortcuts"
        >
          ?
        </button>
      </header>
      {hello.value?.role === "read" ? (
        <p class="readonly">This shared link is read-only: you can look, but change nothing.</p>
      ) : null}
      <main id="main" ref={main} tabIndex={-1}>
        <Page />
      </main>
      <div class="toast" role="status" aria-live="polite">
        {toast.value === undefined ? null : (
          <span class={toast.value.good ? "" : "bad"}>
            {toast.value.text}
            {toast.value.hint ? <small>{toast.value.hint}</small> : null}
          </span>
        )}
      </div>
      <div class="unseen" aria-live="assertive">
        {count === 0 ? "" : `${count} ${count === 1 ? "needs" : "need"} you`}
      </div>
      {keysShown.value ? <Keys /> : null}
    </>
  );
}

function Keys(): JSX.Element {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => box.current?.showModal(), []);
  const rows: readonly (readonly [string, string])[] = [
    ...bar.map(([, title, key]) => [`g ${key}`, title] as const),
    ["/", "search"],
    ["↑ ↓ or k j", "move in a list or tree"],
    ["← →", "close and open a branch of the tree"],
    ["Enter", "open"],
    ["1 2 3 4", "tree, graph, timeline, events of a run"],
    ["Esc", "back"],
    ["?", "show this list"],
  ];
  return (
    <dialog
      ref={box}
      aria-label="Keyboard shortcuts"
      onClose={() => {
        keysShown.value = false;
      }}
    >
      <h2>Keyboard</h2>
      <dl class="keys">
        {rows.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}

let prefix = false;
addEventListener("keydown", (event) => {
  const target = event.target as HTMLElement;
  if (event.ctrlKey || event.metaKey || event.altKey || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return;
  if (prefix) {
    prefix = false;
    const found = bar.find(([, , key]) => key === event.key);
    if (found) {
      event.preventDefault();
      go(linkTo(found[0]));
    }
    return;
  }
  if (event.key === "g") prefix = true;
  else if (event.key === "?") keysShown.value = true;
  else if (event.key === "/") {
    const search = document.querySelector<HTMLInputElement>("input[type=search]");
    if (search) {
      event.preventDefault();
      search.focus();
    }
  }
});

effect(() => {
  const { page, words } = route.value;
  watchRuns(page === "run" ? words[0] : undefined);
});
effect(() => {
  const count = needs.value.length;
  document.title = count === 0 ? "subcrew" : `(${count}) needs you · subcrew`;
});
get<Hello>("hello").then(
  (who) => {
    hello.value = who;
  },
  () => {},
);
// On a phone the first page lists the questions that wait for the person.
if (location.hash === "" && matchMedia("(max-width: 640px)").matches) go(linkTo("needs"), true);
render(<App />, document.getElementById("app")!);
