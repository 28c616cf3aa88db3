import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A server that stores objects and refuses every request with a wrong signature (AWS, version 4). */
export async function startS3(keys: Readonly<Record<string, string>>): Promise<
  Readonly<{
    url: string;
    objects: Map<string, Buffer>;
    refused: string[];
    failNext(times: number): void;
    stop(): void;
  }>
> {
  const objects = new Map<string, Buffer>();
  const refused: string[] = [];
  let failing = 0;
  const server = createServer((request, response) => void serve(request, response));
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const why = failing > 0 ? "SlowDown" : problemOf(request, body, keys);
    if (why !== undefined) {
      if (failing > 0) failing -= 1;
      else refused.push(why);
      response.writeHead(why === "SlowDown" ? 503 : 403).end(`<Error><Code>${why}</Code></Error>`);
      return;
    }
    const path = request.url ?? "";
    if (request.method === "PUT") objects.set(path, body);
    if (request.method === "DELETE") objects.delete(path);
    const found = objects.get(path);
    if (request.method !== "GET") response.writeHead(request.method === "PUT" ? 200 : 204).end();
    else if (found) response.writeHead(200).end(found);
    else response.writeHead(404).end("<Error><Code>NoSuchKey</Code></Error>");
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    refused,
    failNext: (times) => (failing = times),
    stop: () => server.close(),
  };
}

/** Checks a request as the specification requires, from the raw request line and headers. */
function problemOf(request: IncomingMessage, body: Buffer, keys: Readonly<Record<string, string>>): string | undefined {
  const { authorization = "", "x-amz-date": time, "x-amz-content-sha256": hash } = request.headers;
  const [, id = "", day = "", region = "", service = "", signed = "", signature = ""] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      authorization,
    ) ?? [];
  const secret = keys[id];
  if (secret === undefined) return "InvalidAccessKeyId";
  if (typeof time !== "string" || !time.startsWith(day)) return "AccessDenied";
  const seconds = Date.parse(time.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, "$1-$2-$3T$4:$5:$6Z"));
  if (!(Math.abs(Date.now() - seconds) < 900_000)) return "RequestTimeTooSkewed";
  if (createHash("sha256").update(body).digest("hex") !== hash) return "XAmzContentSHA256Mismatch";
  const names = signed.split(";");
  if (!["host", "x-amz-date", "x-amz-content-sha256"].every((name) => names.includes(name))) return "AccessDenied";
  const [path = "", query = ""] = (request.url ?? "").split("?");
  let canonical = `${request.method}\n${path}\n${query.split("&").toSorted().join("&")}\n`;
  for (const name of names) canonical += `${name}:${String(request.headers[name]).trim()}\n`;
  canonical += `\n${signed}\n${hash}`;
  const digest = createHash("sha256").update(canonical).digest("hex");
  let key: Buffer = Buffer.from(`AWS4${secret}`);
  for (const part of [day, region, service, "aws4_request"]) key = createHmac("sha256", key).update(part).digest();
  const text = `AWS4-HMAC-SHA256\n${time}\n${day}/${region}/${service}/aws4_request\n${digest}`;
  const right = createHmac("sha256", key).update(text).digest();
  return timingSafeEqual(right, Buffer.from(signature, "hex")) ? undefined : "SignatureDoesNotMatch";
}
