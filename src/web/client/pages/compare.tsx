import type { JSX } from "preact";
import { formatDuration } from "../../../core/text/duration.ts";
import { DiffView } from "../parts/diff.tsx";
import { useLoaded } from "../parts/load.tsx";
import { Markdown } from "../parts/markdown.tsx";
import { go, linkTo, route, runLink } from "../parts/router.ts";
import { order, runRows } from "../parts/stream.ts";
import { Empty, ErrorBox, LifeChip } from "../parts/words.tsx";
import type { ComparedSide } from "../wire.ts";

/** Shows two runs or two tasks side by side, such as tasks that compete in a race. */
export function ComparePage(): JSX.Element {
  const { query } = route.value;
  const [a, b] = [query.get("a") ?? "", query.get("b") ?? ""];
  return (
    <section class="page compare" aria-labelledby="title">
      <h1 id="title">Compare</h1>
      <div class="filters">
        <Choice label="Left" value={a} choose={(next) => go(linkTo("compare", [], { a: next, b }))} />
        <Choice label="Right" value={b} choose={(next) => go(linkTo("compare", [], { a, b: next }))} />
        <button type="button" disabled={a === "" || b === ""} onClick={() => go(linkTo("compare", [], { a: b, b: a }))}>
          Swap
        </button>
      </div>
      {a === "" || b === "" ? (
        <Empty title="Choose two runs">
          <p>
            Compare what two runs, or two tasks of a race, cost, said and changed. Choose two above, or tick two runs in
            the list.
          </p>
        </Empty>
      ) : (
        <Sides a={a} b={b} />
      )}
    </section>
  );
}

function Choice({
  label,
  value,
  choose,
}: Readonly<{ label: string; value: string; choose(next: string): void }>): JSX.Element {
  const listed = order.value.flatMap((id) => runRows.value.get(id) ?? []);
  const known = value === "" || listed.some(({ id }) => id === value);
  return (
    <label class="choice">
      {label}
      <select value={value} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">choose a run</option>
        {known ? null : <option value={value}>{value}</option>}
        {listed.map(({ id, name }) => (
          <option key={id} value={id}>
            {name} ({id})
          </option>
        ))}
      </select>
    </label>
  );
}

function Sides({ a, b }: Readonly<{ a: string; b: string }>): JSX.Element {
  const sides = useLoaded<readonly [ComparedSide, ComparedSide]>("compare", { a, b });
  const { value, problem } = sides.value;
  if (problem) return <ErrorBox problem={problem} />;
  if (!value) return <p class="dim wait">Reading both …</p>;
  const [left, right] = value;
  const rows: readonly (readonly [string, (side: ComparedSide) => JSX.Element | string | number])[] = [
    ["State", ({ life }) => <LifeChip life={life} />],
    ["Agent", ({ agent }) => agent],
    ["Model", ({ model }) => model],
    ["Cost", ({ price }) => price],
    ["Tokens", ({ tokens }) => tokens],
    ["Turns", ({ turns }) => turns],
    ["Time", ({ ms }) => formatDuration(ms, "spaced")],
    ["Tools", ({ tools }) => tools],
    ["Files changed", ({ files }) => files.length],
  ];
  const texts: readonly (readonly [string, (side: ComparedSide) => JSX.Element])[] = [
    ["Prompt", ({ prompt }) => <Markdown text={prompt} />],
    ["Result", ({ output }) => <Markdown text={output} />],
    [
      "Changes",
      ({ files }) =>
        files.length === 0 ? (
          <p class="dim">No changes are recorded.</p>
        ) : (
          <>
            {files.map(({ name, diff, note }) => (
              <details key={name} open={files.length < 3}>
                <summary>{name}</summary>
                {diff === undefined ? <p class="dim">{note}</p> : <DiffView text={diff} />}
              </details>
            ))}
          </>
        ),
    ],
  ];
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label="Comparison">
        <table class="facts-table">
          <thead>
            <tr>
              <td />
              {[left, right].map((side, at) => (
                <th scope="col" key={at}>
                  <a href={runLink(side.run, side.path)}>{side.name}</a>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(([title, cell]) => (
              <tr key={title} class={sameText(cell(left), cell(right)) ? "" : "differs"}>
                <th scope="row">{title}</th>
                <td>{cell(left)}</td>
                <td>{cell(right)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {texts.map(([title, part]) =>
        title === "Prompt" && left.prompt === right.prompt ? (
          <section key={title}>
            <h2>The prompt of both</h2>
            <div class="card">{part(left)}</div>
          </section>
        ) : (
          <section key={title}>
            <h2>{title}</h2>
            <div class="two">
              <div class="card">{part(left)}</div>
              <div class="card">{part(right)}</div>
            </div>
          </section>
        ),
      )}
    </>
  );
}

const sameText = (a: unknown, b: unknown): boolean => typeof a === "object" || a === b;
