import { webRefusal } from "./web-target.ts";

export type WebHeaders = Readonly<Record<string, string>>;

/** Throws for a header that would change how or to whom the request is sent, or in whose name. */
export function checkHeaders(headers: WebHeaders): void {
  const names = Object.keys(headers);
  if (names.length > MOST) throw webRefusal("HEADER", `a request may have ${MOST} headers at most`);
  for (const [name, value] of Object.entries(headers)) {
    if (!TOKEN.test(name))
      throw webRefusal("HEADER", `${JSON.stringify(name.slice(0, 60))} is not a valid header name`);
    if (/[^\t\x20-\x7e\x80-\xff]/.test(value) || value.length > LONGEST)
      throw webRefusal("HEADER", `the value of the header ${name} is not valid: use one line of plain text`);
    const known = name.replaceAll("_", "-"); // many servers read both signs as the same one
    if (METADATA.test(known) || (/^authorization$/i.test(known) && ORACLE.test(value)))
      throw webRefusal(
        "HEADER",
        `the header ${name} cannot be set: it asks a cloud for the credentials of this machine`,
      );
    if (FORBIDDEN.test(known))
      throw webRefusal("HEADER", `the header ${name} cannot be set: it controls how or where a request is sent`);
  }
}

/** The headers that are sent again after a redirect; to another origin only headers that do not identify the sender. */
export function crossing(
  headers: WebHeaders,
  { sameOrigin, body }: Readonly<{ sameOrigin: boolean; body: boolean }>,
): WebHeaders {
  return Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => (sameOrigin || HARMLESS.has(name)) && (body || !name.startsWith("content-")),
    ),
  );
}

const MOST = 50;
const LONGEST = 8_000;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
const FORBIDDEN =
  /^(?:host|connection|content-length|transfer-encoding|keep-alive|upgrade|te|trailer|expect|via|date|origin|accept-encoding|x-http-method|x-http-method-override|x-method-override|x-original-url|x-rewrite-url|x-forwarded-.*|forwarded|proxy-.*|sec-.*|:.*)$/i;
/** Request headers that cloud metadata services require before they return credentials. */
const METADATA =
  /^(?:metadata|metadata-flavor|x-google-metadata-request|x-aws-ec2-metadata-.*|x-metadata-.*|x-identity-header|x-ims-.*|x-tencent-.*|x-aliyun-ecs-metadata-.*)$/i;
/** The sign-in that the metadata service of Oracle's cloud requires. */
const ORACLE = /^\s*bearer\s+oracle\s*$/i;
const HARMLESS: ReadonlySet<string> = new Set(["accept", "accept-language", "user-agent", "content-type"]);
