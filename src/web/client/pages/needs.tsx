import type { JSX } from "preact";
import { AnswerBox } from "../parts/answer.tsx";
import { Markdown } from "../parts/markdown.tsx";
import { linkTo, runLink } from "../parts/router.ts";
import { mayChange } from "../parts/session.ts";
import { loaded, needs, order, runRows } from "../parts/stream.ts";
import { Ago, CopyCommand, Empty, projectName } from "../parts/words.tsx";
import type { NeedRow } from "../wire.ts";

/** Everything that waits for a person, the oldest first. */
export function NeedsPage(): JSX.Element {
  const rows = needs.value;
  const failed = order.value
    .flatMap((id) => runRows.value.get(id) ?? [])
    .filter(({ group }) => group === "failed")
    .slice(0, 5);
  return (
    <section class="page needs" aria-labelledby="title">
      <h1 id="title">Needs you</h1>
      {!loaded.value ? (
        <p class="dim wait">Reading the runs …</p>
      ) : rows.length === 0 ? (
        <Empty title="Nothing waits for you">
          <p>
            Questions and approvals of all runs appear here, with the change that they are about. The first answer
            counts, here or in a terminal.
          </p>
          <p>
            <a class="button" href={linkTo("runs")}>
              See the runs
            </a>
          </p>
        </Empty>
      ) : (
        rows.map((row) => <Need key={`${row.run}/${row.path}/${row.askedAt}`} row={row} />)
      )}
      {failed.length > 0 ? (
        <>
          <h2>Failed lately</h2>
          <ul class="plain-list">
            {failed.map(({ id, name, doing, startedAt }) => (
              <li key={id}>
                <a href={runLink(id)}>{name}</a> <span class="dim doing">{doing}</span> <Ago at={startedAt} />
              </li>
            ))}
          </ul>
        </>
      ) : null}
    </section>
  );
}

function Need({ row }: Readonly<{ row: NeedRow }>): JSX.Element {
  const { run, path, runName, task, agent, question, call, askedAt, project, kind, command } = row;
  return (
    <article class="need card">
      <header>
        <h2>
          <a href={runLink(run, path)}>{task}</a>
        </h2>
        <p class="dim">
          {agent === undefined ? "" : `${agent} · `}
          {runName === task ? null : (
            <>
              <a href={runLink(run)}>{runName}</a> ·{" "}
            </>
          )}
          <span title={project}>{projectName(project)}</span> · <Ago at={askedAt} />
          {row.life === "interrupted" ? " · the run is interrupted; the answer takes effect when it is resumed" : ""}
        </p>
      </header>
      {kind === "question" && mayChange() ? (
        <AnswerBox run={run} path={path} question={question} call={call} asked={row.asked} />
      ) : (
        <Markdown text={question} />
      )}
      <footer>
        <CopyCommand command={command} />
      </footer>
    </article>
  );
}
