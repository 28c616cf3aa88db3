import { createHash, createHmac } from "node:crypto";

/** The access key, region and service of a signature. */
export type SigningKey = Readonly<{
  id: string;
  secret: string;
  /** The session token of temporary keys. */
  session?: string;
  region: string;
  service: string;
}>;

export type UnsignedRequest = Readonly<{
  method: string;
  url: URL;
  headers?: Readonly<Record<string, string>>;
  /** The SHA-256 of the body, in hex. */
  bodyHash: string;
}>;

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const hmac = (key: Buffer | string, text: string): Buffer => createHmac("sha256", key).update(text).digest();
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

/** The headers of a request, signed with AWS Signature Version 4. */
export function signedHeaders(
  { method, url, headers = {}, bodyHash }: UnsignedRequest,
  { id, secret, session, region, service }: SigningKey,
  now: Date,
): Readonly<Record<string, string>> {
  const time = now.toISOString().replace(/[-:]|\.\d+/g, "");
  const day = time.slice(0, 8);
  const all: Record<string, string> = {
    ...headers,
    host: url.host,
    "x-amz-content-sha256": bodyHash,
    "x-amz-date": time,
    ...(session !== undefined && { "x-amz-security-token": session }),
  };
  const names = Object.keys(all).toSorted();
  const query = [...url.searchParams]
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .toSorted()
    .join("&");
  const path = url.pathname.split("/").map((part) => encoded(decodeURIComponent(part)));
  const signed = names.join(";");
  const canonical = [
    method,
    path.join("/"),
    query,
    ...names.map((name) => `${name}:${all[name]!.trim()}`),
    "",
    signed,
    bodyHash,
  ].join("\n");
  const scope = `${day}/${region}/${service}/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n");
  const key = [region, service, "aws4_request"].reduce(hmac, hmac(`AWS4${secret}`, day));
  const signature = hmac(key, text).toString("hex");
  return {
    ...all,
    authorization: `AWS4-HMAC-SHA256 Credential=${id}/${scope},SignedHeaders=${signed},Signature=${signature}`,
  };
}
