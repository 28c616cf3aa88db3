import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { shellWord } from "../../../core/text/shell-word.ts";
import { useLoaded } from "../parts/load.tsx";
import { Markdown } from "../parts/markdown.tsx";
import { go, linkTo, route } from "../parts/router.ts";
import { hello } from "../parts/session.ts";
import { Command, CopyCommand, Empty, ErrorBox } from "../parts/words.tsx";
import type { AgentPage, AgentProblem, AgentRow, Conversion } from "../wire.ts";

/** Shows all agents: their origin, format and problems, and their conversion for another agent program. */
export function AgentsPage(): JSX.Element {
  const { words, query } = route.value;
  const name = words[0] ?? "";
  const text = query.get("text") ?? "";
  const agents = useLoaded<readonly AgentRow[]>("agents", {});
  const lint = useLoaded<readonly AgentProblem[]>("lint", {});
  const { value, problem } = agents.value;
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = (value ?? []).filter((row) =>
    wanted.every((word) =>
      [row.name, row.description, row.source, row.state, row.file ?? ""].join(" ").toLowerCase().includes(word),
    ),
  );
  const problemsOf = (file: string | undefined): readonly AgentProblem[] =>
    file === undefined
      ? []
      : (lint.value.value ?? []).filter(
          (each) =>
            each.file !== undefined &&
            (each.file === file || file.endsWith(`/${each.file}`)) &&
            each.severity !== "info",
        );
  return (
    <section class={`page agents-page ${name === "" ? "" : "has-selection"}`} aria-labelledby="title">
      <div class="page-head">
        <h1 id="title">Agents</h1>
        <span class="dim">
          {lint.value.value ? `${count(lint.value.value, "error")}, ${count(lint.value.value, "warning")}` : ""}
        </span>
      </div>
      <div class="filters">
        <input
          type="search"
          placeholder="Search agents"
          aria-label="Search agents"
          value={text}
          onInput={(event) =>
            go(linkTo("agents", name === "" ? [] : [name], { text: event.currentTarget.value }), true)
          }
        />
      </div>
      {problem ? (
        <ErrorBox problem={problem} />
      ) : !value ? (
        <p class="dim wait">Looking for agents …</p>
      ) : value.length === 0 ? (
        <Empty title="No agents were found">
          <p>
            Agent files of Claude Code, Codex, Gemini CLI, Copilot, Cursor, opencode and others are found where these
            programs keep them. Create a first agent:
          </p>
          <Command line="subcrew agents new reviewer" />
        </Empty>
      ) : (
        <div class="two-panes">
          <ul class="agent-list" aria-label="Agents">
            {shown.length === 0 ? <li class="dim">No agent matches.</li> : null}
            {shown.map((row) => {
              const wrong = problemsOf(row.file);
              const id = qualified(row);
              return (
                <li key={`${id}${row.file ?? ""}`}>
                  <a href={linkTo("agents", [id], { text })} aria-current={name === id ? "true" : undefined}>
                    <span class="name">
                      {row.name} {row.state === "ready" ? null : <span class="chip waiting">{row.state}</span>}
                      {wrong.length === 0 ? null : (
                        <span
                          class={`chip ${wrong.some(({ severity }) => severity === "error") ? "failed" : "needs-you"}`}
                        >
                          {wrong.length}
                        </span>
                      )}
                    </span>
                    <span class="doing">{row.description}</span>
                    <span class="dim">{row.source}</span>
                  </a>
                </li>
              );
            })}
          </ul>
          {name === "" ? (
            <div class="pane">
              <p class="dim">
                Choose an agent to see how it would run here, where each of its settings comes from, and how it would
                look in the file format of another agent program.
              </p>
            </div>
          ) : (
            <Explained
              name={name}
              row={value.find((row) => qualified(row) === name)}
              problems={problemsOf(value.find((row) => qualified(row) === name)?.file)}
            />
          )}
        </div>
      )}
    </section>
  );
}

/** A name that selects this definition even if another agent with the same name takes precedence. */
const qualified = ({ name, state, also }: AgentRow): string =>
  state === "shadowed" || state === "unlisted" ? (also[0] ?? name) : name;

const count = (problems: readonly AgentProblem[], severity: string): string => {
  const many = problems.filter((each) => each.severity === severity).length;
  return `${many} ${severity}${many === 1 ? "" : "s"}`;
};

function Explained({
  name,
  row,
  problems,
}: Readonly<{ name: string; row: AgentRow | undefined; problems: readonly AgentProblem[] }>): JSX.Element {
  const page = useLoaded<AgentPage>("agent", { name });
  const { value, problem } = page.value;
  if (problem)
    return (
      <div class="pane">
        <ErrorBox problem={problem} />
      </div>
    );
  if (!value)
    return (
      <div class="pane">
        <p class="dim wait">Reading …</p>
      </div>
    );
  const instructions = value.fields.find(({ field }) => field === "instructions");
  const file = value.file ?? row?.file;
  return (
    <div class="pane">
      <div class="page-head">
        <h2>{value.name}</h2>
        <span class="buttons">
          {hello.value?.role === "read" ? null : (
            <a class="button primary" href={linkTo("start", ["single"], { agent: value.name })}>
              Start it
            </a>
          )}
          <CopyCommand command={`subcrew agents explain ${shellWord(value.name)}`} />
        </span>
      </div>
      {file === undefined ? null : <p class="dim path">{file}</p>}
      {row?.reason === undefined ? null : <p class="entry note warn">{row.reason}</p>}
      {problems.length === 0 ? null : (
        <>
          <h3>Problems</h3>
          <ul class="warnings">
            {problems.map(({ severity, code, message, hint, line }) => (
              <li key={code + message}>
                <strong>{severity}</strong> {message} {line === undefined ? "" : `(line ${line})`}
                {hint === undefined ? null : <span class="dim"> {hint}</span>}
              </li>
            ))}
          </ul>
        </>
      )}
      <h3>Fields</h3>
      <Rows
        rows={[...value.fields.filter(({ field }) => field !== "instructions" && field !== "name"), ...value.limits]}
      />
      <h3>Model</h3>
      <ul class="plain-list">
        {value.models.map(({ name: model, why }) => (
          <li key={model}>
            <strong>{model}</strong> <span class="dim">{why}</span>
          </li>
        ))}
      </ul>
      <h3>Tools</h3>
      <details>
        <summary>
          {value.tools
            .filter(({ allowed }) => allowed)
            .map((tool) => tool.name)
            .join(", ") || "none"}
        </summary>
        <Rows
          rows={value.tools.map((tool) => ({
            field: tool.name,
            value: tool.allowed ? "yes" : `no: ${tool.rule}`,
            from: tool.from,
          }))}
        />
      </details>
      {value.reach.length === 0 ? null : (
        <>
          <h3>May start</h3>
          <p>
            {value.reach
              .map((other) => (other.adds.length === 0 ? other.name : `${other.name} (adds ${other.adds.join(", ")})`))
              .join(", ")}
          </p>
        </>
      )}
      {instructions ? (
        <>
          <h3>Instructions</h3>
          <div class="card">
            <Markdown text={instructions.value} />
          </div>
        </>
      ) : null}
      <ConvertPreview name={name} file={file} dialects={value.dialects} />
    </div>
  );
}

function Rows({
  rows,
}: Readonly<{ rows: readonly Readonly<{ field: string; value: string; from: string }>[] }>): JSX.Element {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Values and where they come from">
      <table>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Value</th>
            <th scope="col">From</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ field, value, from }) => (
            <tr key={field}>
              <th scope="row">{field}</th>
              <td>{value}</td>
              <td class="dim">{from}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function ConvertPreview({
  name,
  file,
  dialects,
}: Readonly<{ name: string; file: string | undefined; dialects: readonly string[] }>): JSX.Element {
  const to = useSignal("");
  return (
    <>
      <h3>In the file format of another program</h3>
      <label class="choice">
        Dialect
        <select value={to.value} onChange={(event) => (to.value = event.currentTarget.value)}>
          <option value="">choose</option>
          {dialects.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
      {to.value === "" ? null : <Converted name={name} file={file} to={to.value} />}
    </>
  );
}

function Converted({ name, file, to }: Readonly<{ name: string; file: string | undefined; to: string }>): JSX.Element {
  const made = useLoaded<Conversion>("convert", { name, to });
  const { value, problem } = made.value;
  if (problem) return <ErrorBox problem={problem} />;
  if (!value) return <p class="dim wait">Converting …</p>;
  const { path, text, losses } = value;
  return (
    <>
      <p>
        <code>{path}</code>{" "}
        {file === undefined ? null : <CopyCommand command={`subcrew agents convert ${shellWord(file)} --to ${to}`} />}
      </p>
      {losses.length === 0 ? (
        <p class="good">Nothing is lost.</p>
      ) : (
        <ul class="warnings">
          {losses.map(({ kind, field, note }) => (
            <li key={field + note}>
              <strong>{kind}</strong> {field}: {note}
            </li>
          ))}
        </ul>
      )}
      <pre tabIndex={0}>{text}</pre>
    </>
  );
}
