import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { FormSchema } from "../wire.ts";

/** A value in a form: JSON, or `undefined` for an empty field. */
export type FormValue = unknown;

type FieldProps = Readonly<{
  name: string;
  schema: FormSchema;
  value: FormValue;
  required: boolean;
  /** The id of the datalist with suggested values, by field name. */
  lists: Readonly<Record<string, string>>;
  set(value: FormValue): void;
}>;

const title = (name: string): string => name.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();

/** Fields that get a multi-line input, by name. */
const LONG: ReadonlySet<string> = new Set(["task", "prompt", "context", "systemPrompt", "objective"]);
/** Fields that are always visible; the other fields are collapsed. */
const FIRST: ReadonlySet<string> = new Set([
  "task",
  "tasks",
  "chain",
  "race",
  "team",
  "agent",
  "agents",
  "model",
  "models",
  "name",
  "objective",
  "members",
  "role",
  "id",
  "assignee",
  "depends",
  "review",
  "reviewer",
  "requiresApproval",
]);

/** The inputs for the fields of an object, made from its schema. Empty fields are not sent. */
export function ObjectFields({
  schema,
  value,
  lists,
  set,
}: Readonly<{
  schema: FormSchema;
  value: FormValue;
  lists: FieldProps["lists"];
  set(value: FormValue): void;
}>): JSX.Element {
  const given = (typeof value === "object" && value !== null ? value : {}) as Readonly<Record<string, unknown>>;
  const fields = Object.entries(schema.properties ?? {}).filter(([, field]) => field.const === undefined);
  const put = (name: string, next: FormValue): void => {
    const { [name]: _old, ...rest } = given;
    set(next === undefined ? rest : { ...rest, [name]: next });
  };
  const field = ([name, each]: readonly [string, FormSchema]): JSX.Element => (
    <Field
      key={name}
      name={name}
      schema={each}
      value={given[name]}
      required={schema.required?.includes(name) ?? false}
      lists={lists}
      set={(next) => put(name, next)}
    />
  );
  const isFirst = ([name]: readonly [string, FormSchema]): boolean =>
    FIRST.has(name) || (schema.required?.includes(name) ?? false);
  const [first, more] = [fields.filter(isFirst), fields.filter((each) => !isFirst(each))];
  const used = more.filter(([name]) => given[name] !== undefined).length;
  return (
    <div class="fields">
      {first.map(field)}
      {more.length === 0 ? null : (
        <details class="more-fields">
          <summary>
            {first.length === 0 ? "Options" : "More"} ({used > 0 ? `${used} set, ` : ""}
            {more.length})
          </summary>
          <div class="fields">{more.map(field)}</div>
        </details>
      )}
    </div>
  );
}

function Field({ name, schema, value, required, lists, set }: FieldProps): JSX.Element {
  const help = schema.description;
  const id = `help-${name}`;
  const kind = kindOf(schema);
  if (kind === "object" || kind === "objects")
    return (
      <fieldset>
        <legend>{title(name)}</legend>
        {help === undefined ? null : <p class="dim">{help}</p>}
        {kind === "object" ? (
          <ObjectFields schema={schema} value={value} lists={lists} set={set} />
        ) : (
          <ObjectList name={name} schema={schema} value={value} lists={lists} set={set} />
        )}
      </fieldset>
    );
  return (
    <label class={`field ${kind === "flag" ? "flag" : ""}`}>
      <span class="label">
        {title(name)}
        {required ? <span class="dim"> (needed)</span> : null}
      </span>
      {input({ name, schema, value, required, lists, set }, kind, id)}
      {help === undefined ? null : (
        <span class="dim help" id={id}>
          {help}
        </span>
      )}
    </label>
  );
}

/** The kind of an input. `yes or no` is a switch that is on by default. */
type Kind = "text" | "number" | "flag" | "yes or no" | "choice" | "texts" | "object" | "objects" | "json";

function kindOf(schema: FormSchema): Kind {
  if (schema.enum) return "choice";
  if (schema.anyOf) {
    const kinds = schema.anyOf.map(kindOf);
    if (schema.anyOf.every((each) => each.enum !== undefined || each.const !== undefined)) return "choice";
    return kinds.includes("text") || kinds.includes("choice") ? "text" : (kinds[0] ?? "json");
  }
  switch (schema.type) {
    case "string":
      return "text";
    case "number":
    case "integer":
      return "number";
    case "boolean":
      return schema.description?.startsWith("false:") ? "yes or no" : "flag";
    case "array":
      return schema.items?.properties ? "objects" : "texts";
    case "object":
      return schema.properties ? "object" : "json";
    default:
      return "json";
  }
}

function input({ name, schema, value, required, lists, set }: FieldProps, kind: Kind, help: string): JSX.Element {
  const shared = { "aria-describedby": schema.description === undefined ? undefined : help, "aria-required": required };
  switch (kind) {
    case "choice": {
      const options = schema.enum ?? (schema.anyOf ?? []).flatMap((each) => each.enum ?? [each.const]);
      return (
        <select
          {...shared}
          value={typeof value === "string" ? value : ""}
          onChange={(event) => set(event.currentTarget.value || undefined)}
        >
          <option value="">default</option>
          {options.map((each) => (
            <option key={String(each)}>{String(each)}</option>
          ))}
        </select>
      );
    }
    case "yes or no":
      return (
        <select
          {...shared}
          value={value === true ? "true" : value === false ? "false" : ""}
          onChange={(event) => set({ true: true, false: false }[event.currentTarget.value])}
        >
          <option value="">default</option>
          <option value="true">yes</option>
          <option value="false">no</option>
        </select>
      );
    case "flag":
      return (
        <input
          type="checkbox"
          {...shared}
          aria-required={undefined}
          checked={value === true}
          onChange={(event) => set(event.currentTarget.checked || undefined)}
        />
      );
    case "number":
      return (
        <input
          type="number"
          {...shared}
          min={schema.minimum}
          max={schema.maximum}
          step="any"
          value={typeof value === "number" ? value : ""}
          onInput={(event) => set(event.currentTarget.value === "" ? undefined : Number(event.currentTarget.value))}
        />
      );
    case "json":
      return <JsonField shared={shared} value={value} set={set} />;
    default:
      return LONG.has(name) ? (
        <textarea
          {...shared}
          rows={name === "task" || name === "prompt" ? 4 : 2}
          value={typeof value === "string" ? value : ""}
          onInput={(event) => set(event.currentTarget.value || undefined)}
        />
      ) : (
        <TextField
          shared={{ ...shared, list: lists[name], placeholder: kind === "texts" ? "separated by commas" : undefined }}
          value={value}
          parse={kind === "texts" ? listOf : (text) => textOf(schema, text)}
          set={set}
        />
      );
  }
}

function listOf(text: string): readonly string[] | undefined {
  const parts = text
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean);
  return parts.length === 0 ? undefined : parts;
}

/**
 * Parses the text of an input. Where the schema also accepts a list or a number, commas make a list and digits a
 * number.
 */
function textOf(schema: FormSchema, text: string): FormValue {
  if (text === "") return undefined;
  if (text.includes(",") && schema.anyOf?.some(({ type }) => type === "array")) return listOf(text);
  if (/^\d+$/.test(text) && schema.anyOf?.some(({ type }) => type === "number" || type === "integer"))
    return Number(text);
  return text;
}

/** Keeps the text as it is typed while it stands for the value: a list would lose the comma at its end. */
function TextField({
  shared,
  value,
  parse,
  set,
}: Readonly<{
  shared: object;
  value: FormValue;
  parse(text: string): FormValue;
  set(value: FormValue): void;
}>): JSX.Element {
  const typed = useSignal("");
  const written = [value].flat().join(", ");
  return (
    <input
      type="text"
      {...shared}
      value={JSON.stringify(parse(typed.value)) === JSON.stringify(value) ? typed.value : written}
      onInput={(event) => {
        typed.value = event.currentTarget.value;
        set(parse(typed.value));
      }}
    />
  );
}

function JsonField({
  shared,
  value,
  set,
}: Readonly<{ shared: object; value: FormValue; set(value: FormValue): void }>): JSX.Element {
  const text = useSignal(value === undefined ? "" : JSON.stringify(value, null, 2));
  const wrong = useSignal(false);
  return (
    <>
      <textarea
        {...shared}
        rows={3}
        spellcheck={false}
        placeholder="{ } as JSON"
        aria-invalid={wrong.value}
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          try {
            set(text.value.trim() === "" ? undefined : JSON.parse(text.value));
            wrong.value = false;
          } catch {
            wrong.value = true;
          }
        }}
      />
      {wrong.value ? <span class="bad">This is not JSON yet.</span> : null}
    </>
  );
}

function ObjectList({ name, schema, value, lists, set }: Omit<FieldProps, "required">): JSX.Element {
  const items = (Array.isArray(value) ? value : []) as readonly FormValue[];
  const one = title(name).replace(/s$/, "");
  const put = (at: number, next: FormValue): void => set(items.map((each, index) => (index === at ? next : each)));
  const drop = (at: number): void => {
    const rest = items.filter((_, index) => index !== at);
    set(rest.length === 0 ? undefined : rest);
  };
  const swap = (at: number): void => set(items.toSpliced(at - 1, 2, items[at], items[at - 1]));
  return (
    <div class="list-field">
      {items.map((item, at) => (
        <div class="item" key={at} role="group" aria-label={`${one} ${at + 1}`}>
          <div class="item-head">
            <strong>
              {one === "chain" ? "step" : one} {at + 1}
            </strong>
            {at === 0 ? null : (
              <button type="button" class="quiet" onClick={() => swap(at)} aria-label={`Move ${one} ${at + 1} up`}>
                ↑
              </button>
            )}
            <button type="button" class="quiet" onClick={() => drop(at)} aria-label={`Remove ${one} ${at + 1}`}>
              remove
            </button>
          </div>
          <ObjectFields schema={schema.items!} value={item} lists={lists} set={(next) => put(at, next)} />
        </div>
      ))}
      <button type="button" onClick={() => set([...items, {}])}>
        Add {one === "chain" ? "a step" : `a ${one}`}
      </button>
    </div>
  );
}
