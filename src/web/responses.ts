import type { ServerResponse } from "node:http";
import { CrewError, isCrewError, messageOf } from "../core/schema/error.ts";
import { jsonText } from "../core/text/json-text.ts";

/**
 * The content security policy: no outside requests, no inline script or style, no eval, trusted types only, not shown
 * in frames of other pages.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/** The headers of every response of the web server. */
export const safeHeaders: Readonly<Record<string, string>> = {
  "content-security-policy": POLICY,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "cache-control": "no-store",
};

export function sendText(
  response: ServerResponse,
  status: number,
  type: string,
  body: string | Buffer,
  more: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { ...safeHeaders, "content-type": `${type}; charset=utf-8`, ...more }).end(body);
}

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  sendText(response, status, "application/json", jsonText(value));
}

/**
 * Sends an error as the terminal prints it: a code, a sentence, a hint. Internal errors show no details of the
 * machine.
 */
export function sendError(response: ServerResponse, thrown: unknown): void {
  const status = statusFor(thrown);
  const { code, message, hint } = isCrewError(thrown)
    ? thrown
    : {
        code: "UNEXPECTED",
        message: status === 500 ? "The server has met an unexpected error." : messageOf(thrown),
        hint: "The terminal of `subcrew web` shows the details.",
      };
  sendJson(response, status, { code, message, hint });
}

function statusFor(thrown: unknown): number {
  if (isCrewError(thrown)) return thrown.code === "UNKNOWN_RUN" || thrown.code === "UNKNOWN_AGENT" ? 404 : 400;
  const status = thrown instanceof Error && "status" in thrown ? thrown.status : undefined;
  return typeof status === "number" ? status : 500;
}

/** Sends a page without scripts to a browser that is not signed in. */
export function sendNotice(response: ServerResponse, status: number, title: string, text: string): void {
  const page = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><h1>${title}</h1><p>${text}</p></html>`;
  sendText(response, status, "text/html", page);
}

export const badInput = (message: string, hint: string): CrewError => new CrewError("BAD_INPUT", message, hint);
