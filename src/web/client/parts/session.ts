import { signal } from "@preact/signals";
import type { Done, Hello } from "../wire.ts";
import { sendPost, problemOf } from "./api.ts";

/** The role of this browser, and the version of the server. */
export const hello = signal<Hello | undefined>(undefined);

/** The result of the last action, shown for a few seconds. */
export const toast = signal<Readonly<{ text: string; hint: string; good: boolean }> | undefined>(undefined);
let timer = 0;

export function tell(text: string, { hint = "", good = true }: Readonly<{ hint?: string; good?: boolean }> = {}): void {
  toast.value = { text, hint, good };
  clearTimeout(timer);
  timer = setTimeout(
    () => {
      toast.value = undefined;
    },
    good ? 5_000 : 12_000,
  );
}

/** Sends a change to the server and shows the result. */
export async function sendChange(name: string, body: unknown): Promise<Done | undefined> {
  try {
    const done = await sendPost<Done>(name, body);
    tell(done.text, { good: done.done });
    return done;
  } catch (error) {
    const { message, hint } = problemOf(error);
    tell(message, { hint, good: false });
    return undefined;
  }
}

export const mayChange = (): boolean => hello.value?.role !== "read";
