import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { WebProblem } from "../wire.ts";
import { get, problemOf } from "./api.ts";

/** Something that was asked of the server: not yet there, there, or refused. */
export type Loaded<T> = Readonly<{ value: T | undefined; problem: WebProblem | undefined }>;

/** Asks the server again whenever the query or `again` changes; the last answer stays until the next one is there. */
export function useLoaded<T>(
  name: string,
  query: Readonly<Record<string, string>>,
  again: unknown = 0,
): Signal<Loaded<T>> {
  const key = JSON.stringify([name, query]);
  const state = useSignal<Loaded<T> & Readonly<{ key: string }>>({ key, value: undefined, problem: undefined });
  useEffect(() => {
    let over = false;
    if (state.value.key !== key) state.value = { key, value: undefined, problem: undefined };
    get<T>(name, query).then(
      (value) => {
        if (!over) state.value = { key, value, problem: undefined };
      },
      (error: unknown) => {
        if (!over) state.value = { key, value: state.value.value, problem: problemOf(error) };
      },
    );
    return () => {
      over = true;
    };
  }, [key, again]);
  return state;
}
