import { createHash } from "node:crypto";
import { CrewError, messageOf } from "../../core/schema/error.ts";
import { pause } from "../../runtime/async/cancel.ts";
import type { ObjectStore } from "../postgres/artifacts.ts";
import { type SigningKey, signedHeaders } from "./sign-v4.ts";

export type S3Options = Readonly<{
  /** `s3://BUCKET/PREFIX`, with `?endpoint=URL&region=NAME` for servers other than AWS. */
  address: URL;
  env: Readonly<Record<string, string | undefined>>;
  clock?: () => number;
}>;

const TRIES = 4;
const REQUEST_MS = 120_000;

/**
 * Stores large results as objects in an S3 bucket. The keys come from the environment of this process, never from the
 * database or the address.
 */
export function s3Objects({ address, env, clock = Date.now }: S3Options): ObjectStore {
  const key = keyIn(env, address.searchParams.get("region") ?? env["AWS_REGION"] ?? "us-east-1");
  const bucket = address.hostname;
  const prefix = address.pathname.replace(/^\/+|\/+$/g, "");
  const named = (hash: string): string => [prefix, hash.slice(0, 2), hash].filter((part) => part !== "").join("/");
  const given = address.searchParams.get("endpoint");
  const base =
    given === null ? `https://${bucket}.s3.${key.region}.amazonaws.com` : `${given.replace(/\/+$/, "")}/${bucket}`;
  const place = (hash: string): string => `s3://${bucket}/${named(hash)}`;
  const ask = async (method: string, hash: string, body?: Buffer): Promise<Response> => {
    const url = new URL(`${base}/${named(hash)}`);
    const bodyHash = createHash("sha256")
      .update(body ?? "")
      .digest("hex");
    for (let tries = 1; ; tries += 1) {
      const { host: _host, ...headers } = signedHeaders({ method, url, bodyHash }, key, new Date(clock()));
      const answer = await fetch(url, {
        method,
        headers,
        redirect: "error",
        signal: AbortSignal.timeout(REQUEST_MS),
        ...(body && { body: new Uint8Array(body) }),
      }).catch((error: unknown) => messageOf(error));
      const isBusy = typeof answer === "string" || answer.status >= 500 || answer.status === 429;
      if (!isBusy) return answer;
      if (tries >= TRIES)
        throw failure(method, place(hash), typeof answer === "string" ? answer : await saidBy(answer));
      await pause(100 * 4 ** tries, new AbortController().signal);
    }
  };
  return {
    place,
    put: async (hash, body) => {
      const answer = await ask("PUT", hash, body);
      if (!answer.ok) throw failure("PUT", place(hash), await saidBy(answer));
      await answer.arrayBuffer();
    },
    get: async (hash) => {
      const answer = await ask("GET", hash);
      if (answer.status === 404) return undefined;
      if (!answer.ok) throw failure("GET", place(hash), await saidBy(answer));
      return Buffer.from(await answer.arrayBuffer());
    },
    remove: async (hash) => {
      const answer = await ask("DELETE", hash);
      await answer.arrayBuffer();
    },
  };
}

function keyIn(env: S3Options["env"], region: string): SigningKey {
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: session } = env;
  if (!id || !secret)
    throw new CrewError(
      "BAD_INPUT",
      "SUBCREW_ARTIFACTS names a bucket, but no access key for the bucket is set.",
      "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
    );
  return { id, secret, region, service: "s3", ...(session && { session }) };
}

const saidBy = async (answer: Response): Promise<string> => {
  const text = await answer.text().catch(() => "");
  const [, code = ""] = /<Code>([^<]{1,100})<\/Code>/.exec(text) ?? [];
  return `${answer.status} ${code}`.trim();
};

const failure = (method: string, place: string, said: string): CrewError =>
  new CrewError(
    "ENGINE_UNREACHABLE",
    `The store of large results failed: ${method} ${place}: ${said}.`,
    "Check SUBCREW_ARTIFACTS, the access keys, and that the bucket exists.",
  );
