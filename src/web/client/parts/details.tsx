import type { ComponentChild, JSX } from "preact";
import { formatTokens } from "../../../core/outcome/usage.ts";
import type { DiffReport, TaskDetails } from "../wire.ts";
import { DiffView } from "./diff.tsx";
import { type Loaded, useLoaded } from "./load.tsx";
import { Markdown } from "./markdown.tsx";
import { sendChange, mayChange } from "./session.ts";
import { ErrorBox } from "./words.tsx";

type Props = Readonly<{ run: string; path: string; seq: number }>;

/** Shows a reply of the server; or its error; or, until it arrives, that it is loading. */
function Waiting<T>({ of, children }: Readonly<{ of: Loaded<T>; children(value: T): ComponentChild }>): JSX.Element {
  if (of.value !== undefined) return <>{children(of.value)}</>;
  return of.problem ? <ErrorBox problem={of.problem} /> : <p class="dim wait">Reading …</p>;
}

export function PromptView({ run, path, seq }: Props): JSX.Element {
  const details = useLoaded<TaskDetails>("task", { run, path }, seq);
  return (
    <Waiting of={details.value}>
      {({ prompts }) =>
        prompts.length === 0 ? (
          <p class="dim">The task has not begun.</p>
        ) : (
          prompts.map(({ attempt, text }) => (
            <article class="entry prompt" key={`${attempt}${text}`}>
              {prompts.length > 1 ? <h3>Attempt {attempt}</h3> : null}
              <Markdown text={text} />
            </article>
          ))
        )
      }
    </Waiting>
  );
}

export function DefinitionView({ run, path, seq }: Props): JSX.Element {
  const details = useLoaded<TaskDetails>("task", { run, path }, seq);
  return (
    <Waiting of={details.value}>
      {({ definitions }) =>
        definitions.length === 0 ? (
          <p class="dim">No agent has begun yet.</p>
        ) : (
          definitions.map(({ agent, model, why, hash, rights, fields, instructions }) => (
            <article class="definition" key={hash + model}>
              <h3>{agent}</h3>
              <p class="dim">
                Model {model}
                {why === "" ? "" : `: ${why}`}
              </p>
              <div class="scroll" tabIndex={0} role="region" aria-label={`Fields of ${agent}`}>
                <table>
                  <thead>
                    <tr>
                      <th scope="col">Field</th>
                      <th scope="col">Value</th>
                      <th scope="col">From</th>
                    </tr>
                  </thead>
                  <tbody>
                    {fields.map(({ field, value, from }) => (
                      <tr key={field}>
                        <th scope="row">{field}</th>
                        <td>{value}</td>
                        <td class="dim">{from}</td>
                      </tr>
                    ))}
                    {rights.length === 0 ? null : (
                      <tr>
                        <th scope="row">rights</th>
                        <td>{rights.join(", ")}</td>
                        <td class="dim">decided when the task began</td>
                      </tr>
                    )}
                  </tbody>
                </table>
              </div>
              <details>
                <summary>Instructions ({instructions.length} characters)</summary>
                <Markdown text={instructions} />
              </details>
            </article>
          ))
        )
      }
    </Waiting>
  );
}

export function TurnsView({ run, path, seq }: Props): JSX.Element {
  const details = useLoaded<TaskDetails>("task", { run, path }, seq);
  return (
    <Waiting of={details.value}>
      {({ turns }) => {
        if (turns.length === 0) return <p class="dim">No turn has ended yet.</p>;
        const most = Math.max(1e-9, ...turns.map(({ usd }) => usd));
        const tokens = Math.max(1, ...turns.map(({ input, output }) => input + output));
        return (
          <div class="scroll" tabIndex={0} role="region" aria-label="Cost per turn">
            <table class="turns">
              <thead>
                <tr>
                  <th scope="col">Turn</th>
                  <th scope="col">Model</th>
                  <th scope="col">In</th>
                  <th scope="col">Cached</th>
                  <th scope="col">Out</th>
                  <th scope="col">Cost</th>
                  <th scope="col">
                    <span class="unseen">Share</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {turns.map(({ turn, model, input, output, cached, price, usd, at }) => (
                  <tr key={at + turn}>
                    <td class="number">{turn}</td>
                    <td>{model}</td>
                    <td class="number">{formatTokens(input)}</td>
                    <td class="number">{cached === 0 ? "" : formatTokens(cached)}</td>
                    <td class="number">{formatTokens(output)}</td>
                    <td class="number">{price}</td>
                    <td class="share">
                      <i style={{ width: `${100 * (usd > 0 ? usd / most : (input + output) / tokens)}%` }} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        );
      }}
    </Waiting>
  );
}

export function WarningsView({ run, path, seq }: Props): JSX.Element {
  const details = useLoaded<TaskDetails>("task", { run, path }, seq);
  return (
    <Waiting of={details.value}>
      {({ warnings }) =>
        warnings.length === 0 ? (
          <p class="dim">No warnings.</p>
        ) : (
          <ul class="warnings">
            {warnings.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        )
      }
    </Waiting>
  );
}

export function ChangesView({ run, path, seq }: Props): JSX.Element {
  const report = useLoaded<DiffReport>("diff", { run, path }, seq);
  return (
    <Waiting of={report.value}>
      {({ files, unseen, kept }) => (
        <>
          {unseen.map((text) => (
            <p class="entry note warn" key={text}>
              {text}
            </p>
          ))}
          {kept.map((patch) => (
            <article class="kept" key={patch.path}>
              <h3>
                Changes of {patch.path} wait in a patch
                {mayChange() ? (
                  <button
                    type="button"
                    class="primary"
                    onClick={() => void sendChange("apply", { run, path: patch.path })}
                  >
                    Apply {patch.files.length === 1 ? "1 file" : `${patch.files.length} files`}
                  </button>
                ) : null}
              </h3>
              <DiffView text={patch.patch} />
            </article>
          ))}
          {files.length + kept.length === 0 ? <p class="dim">No changes are recorded.</p> : null}
          {files.map(({ name, how, added, removed, tasks, diff, note, changedSince }) => (
            <details class="file" key={name} open={files.length <= 5}>
              <summary>
                <strong>{name}</strong> <span class="dim">{how}</span> <ins>+{added}</ins> <del>-{removed}</del>{" "}
                <span class="dim">
                  {tasks.filter(Boolean).length === 0 ? "" : `by ${tasks.filter(Boolean).join(", ")}`}
                  {changedSince ? " · changed again since" : ""}
                </span>
              </summary>
              {diff === undefined ? <p class="dim">{note ?? "No text to compare."}</p> : <DiffView text={diff} />}
            </details>
          ))}
        </>
      )}
    </Waiting>
  );
}
