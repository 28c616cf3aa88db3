import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { WebProblem } from "../wire.ts";
import { get, problemOf } from "./api.ts";

/** A reply of the server: loading, loaded, or failed. */
export type Loaded<T> = Readonly<{ value: T | undefined; problem: WebProblem | undefined }>;

/**
 * Requests data from the server, again whenever the query or `again` changes. The last reply is kept until the next
 * reply arrives.
 */
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
