import type { Yields } from "../core/agent/agent.ts";
import type { StandardSchema } from "../core/schema/standard-schema.ts";
import type { Input, Mode } from "../modes/compile.ts";

/** What a run is asked to do, as it is written in code: `mode` follows from the other keys, and schemas may be those of a library. */
export type RunInput = { [M in Mode]: InputOf<M> }[Mode];

/** The input of one mode, as it is written in code. */
export type InputOf<M extends Mode> = WithSchemas<Omit<Extract<Input, { mode: M }>, "mode">> & Readonly<{ mode?: M }>;

/** A single task with a schema, which gives the type of `data`. */
export type TypedTask<S extends StandardSchema> = Omit<InputOf<"single">, "schema"> & Readonly<{ schema: S }>;

/** A race with a schema: the winner's answer gives `data`. */
export type TypedRace<S extends StandardSchema> = Omit<InputOf<"race">, "race"> &
  Readonly<{ race: Omit<InputOf<"race">["race"], "schema"> & Readonly<{ schema: S }> }>;

/** A chain whose last step has a schema: its answer gives `data`. */
export type TypedChain<S extends StandardSchema> = Omit<InputOf<"chain">, "chain" | "schema"> &
  Readonly<{ chain: readonly [...ChainStep[], Omit<ChainStep, "schema"> & Readonly<{ schema: S }>] }>;

type ChainStep = InputOf<"chain">["chain"][number];

/** A single task for an agent whose output schema gives the type of `data`. */
export type TaskFor<Name extends string> = Omit<InputOf<"single">, "agent" | "schema"> & Readonly<{ agent: Name }>;

/** Names of the agents that were handed to `createCrew` with an output schema, and the type of their results. */
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
