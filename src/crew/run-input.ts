import type { Yields } from "../core/agent/agent.ts";
import type { OutputOf, StandardSchema } from "../core/schema/standard-schema.ts";
import type { JsonSchema } from "../core/text/json.ts";
import type { Input, Mode } from "../modes/compile.ts";

/**
 * The input of a run as written in code: `mode` follows from the other keys, and schemas may come from a schema library
 * such as zod.
 */
export type RunInput = { [M in Mode]: InputOf<M> }[Mode];

/** The input of one mode, as written in code. */
export type InputOf<M extends Mode> = WithSchemas<Omit<Extract<Input, { mode: M }>, "mode">> & Readonly<{ mode?: M }>;

/** A single task with an output schema, which gives the type of `data`. */
export type TypedTask<S extends StandardSchema> = Omit<InputOf<"single">, "schema"> & Readonly<{ schema: S }>;

/** A race with an output schema: the winner's answer gives `data`. */
export type TypedRace<S extends StandardSchema> = Omit<InputOf<"race">, "race"> &
  Readonly<{ race: Omit<InputOf<"race">["race"], "schema"> & Readonly<{ schema: S }> }>;

/** A chain whose last step has an output schema: its answer gives `data`. */
export type TypedChain<S extends StandardSchema> = Omit<InputOf<"chain">, "chain" | "schema"> &
  Readonly<{ chain: readonly [...ChainStep[], Omit<ChainStep, "schema"> & Readonly<{ schema: S }>] }>;

type ChainStep = InputOf<"chain">["chain"][number];

/** Parallel tasks with output schemas: `data` is a list of their answers, in the order of the tasks. */
export type TypedParallel<S extends Schemas> = Omit<InputOf<"parallel">, "tasks"> &
  Readonly<{
    tasks: readonly [...{ [K in keyof S]: Omit<ParallelTask, "schema"> & Readonly<{ schema?: S[K] & AnySchema }> }];
  }>;

/** A team whose tasks have schemas: `data` contains the answer of each task under its id. */
export type TypedTeam<T extends TeamTasks> = Omit<InputOf<"team">, "team"> & {
  readonly team: Omit<Team, "tasks"> & { readonly tasks: T };
} & { readonly team: { readonly tasks: WithoutMore<NoInfer<T>> } };

/** Makes an unknown key of a team's task a type error, even where the type of the tasks is inferred. */
type WithoutMore<T extends TeamTasks> = {
  readonly [K in keyof T]: [Exclude<keyof T[K], keyof TeamTasks[number]>] extends [never] ? unknown : never;
};

type ParallelTask = InputOf<"parallel">["tasks"][number];
type Team = InputOf<"team">["team"];
export type TeamTasks = NonNullable<Team["tasks"]>;
/** The schemas of several tasks, in their order. */
export type Schemas = readonly unknown[];
type AnySchema = StandardSchema | JsonSchema | undefined;

/** The type of `data` for parallel tasks; `unknown` unless a task has a schema of a schema library. */
export type ListedData<S extends Schemas> =
  HasLibrarySchema<S> extends true ? { [K in keyof S]: DataOf<S[K]> } : unknown;

/** The type of `data` for a team; `unknown` unless a task has a schema of a schema library. */
export type NamedData<T extends TeamTasks> = [Extract<T[number], { schema: StandardSchema }>] extends [never]
  ? unknown
  : { readonly [E in T[number] as E["id"]]: E extends { schema: infer S } ? DataOf<S> : unknown };

type DataOf<S> = S extends StandardSchema ? OutputOf<S> : unknown;
type HasLibrarySchema<S extends Schemas> = true extends {
  [K in keyof S]: S[K] extends StandardSchema ? true : false;
}[number]
  ? true
  : false;

/** A single task for an agent whose output schema gives the type of `data`. */
export type TaskFor<Name extends string> = Omit<InputOf<"single">, "agent" | "schema"> & Readonly<{ agent: Name }>;

/** Names of the agents that were passed to `createCrew` with an output schema, and the type of their results. */
export type DataByAgent<Agents extends readonly unknown[]> = {
  [A in Agents[number] as A extends Yields<infer T> & { readonly name: infer N extends string }
    ? unknown extends T
      ? never
      : N
    : never]: A extends Yields<infer T> ? T : never;
};

type WithSchemas<T> = T extends readonly (infer E)[]
  ? readonly WithSchemas<E>[]
  : T extends object
    ? { readonly [K in keyof T]: K extends "schema" | "acceptSchema" ? T[K] | StandardSchema : WithSchemas<T[K]> }
    : T;
