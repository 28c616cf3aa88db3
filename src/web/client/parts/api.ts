import type { WebProblem } from "../wire.ts";

/** An error of the server, as the terminal prints it: the problem and the fix. */
export class ApiError extends Error {
  readonly code: string;
  readonly hint: string;
  constructor({ code, message, hint }: WebProblem) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

const unreachable: WebProblem = {
  code: "UNREACHABLE",
  message: "The server of this page does not answer.",
  hint: "Start the server again: subcrew web. This page reconnects by itself.",
};

/** The project of this page if its link names one; otherwise the server uses its own. */
const cwd = new URLSearchParams(location.search).get("cwd");

export function get<T>(name: string, query: Readonly<Record<string, string>> = {}): Promise<T> {
  const text = new URLSearchParams(cwd === null ? query : { ...query, cwd }).toString();
  return asked(`api/${name}${text === "" ? "" : `?${text}`}`, {});
}

export function sendPost<T>(name: string, body: unknown): Promise<T> {
  const headers = { "content-type": "application/json", "x-subcrew": "page" };
  return asked(`api/${name}`, { method: "POST", headers, body: JSON.stringify(body) });
}

async function asked<T>(path: string, init: RequestInit): Promise<T> {
  const response = await fetch(path, { ...init, credentials: "same-origin" }).catch(() => {
    throw new ApiError(unreachable);
  });
  if (response.status === 401)
    throw new ApiError({
      code: "SIGNED_OUT",
      message: "This browser is no longer signed in.",
      hint: "Run `subcrew web` for a new link.",
    });
  const value = (await response.json().catch(() => unreachable)) as T & WebProblem;
  if (!response.ok) throw new ApiError(value);
  return value;
}

export const problemOf = (error: unknown): WebProblem =>
  error instanceof ApiError
    ? { code: error.code, message: error.message, hint: error.hint }
    : { code: "UNEXPECTED", message: error instanceof Error ? error.message : String(error), hint: "Reload the page." };
