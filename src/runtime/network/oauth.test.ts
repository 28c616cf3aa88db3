import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { webServer } from "../../../test/support/web-server.ts";
import { type BrowserSignIn, isOAuthRefusal, renewTokens, signInAsProgram, signInWithBrowser } from "./oauth.ts";

const signal = new AbortController().signal;
const TYPE = { "content-type": "application/json" };
const GIVEN = { access_token: "a", token_type: "Bearer", id_token: "not.checked.here" };

/** A token endpoint that gives these answers, one after the other. */
async function tokenEndpoint(...answers: readonly (readonly [status: number, body: object | string])[]) {
  const left = [...answers];
  const server = await webServer({
    "/token": (_, response) => {
      const [status, body] = left.shift()!;
      response.writeHead(status, TYPE).end(typeof body === "string" ? body : JSON.stringify(body));
    },
    "/authorize": ({ url = "" }, response) => {
      const asked = new URL(url, "http://x").searchParams;
      const back = new URL(asked.get("redirect_uri")!);
      for (const [name, value] of Object.entries({ code: "c", state: asked.get("state")!, iss: "https://who.example" }))
        back.searchParams.set(name, value);
      response.writeHead(302, { location: back.href }).end();
    },
  });
  const forms = () =>
    server.requests.filter(({ method }) => method === "POST").map(({ body }) => new URLSearchParams(body));
  return { forms, server: { token_endpoint: server.url("/token"), authorization_endpoint: server.url("/authorize") } };
}

test("a client secret is sent in the header first, and in the form if the header is refused", async () => {
  const { server, forms } = await tokenEndpoint([401, { error: "invalid_client" }], [200, GIVEN]);
  const client = { id: "me", secret: "s" };
  expect(await signInAsProgram({ server, client, fetch, signal }, "a b")).toEqual({ access: "a" });
  expect(forms().map((form) => [form.get("client_secret"), form.get("scope")])).toEqual([
    [null, "a b"],
    ["s", "a b"],
  ]);
});

test("renewing an OAuth token keeps the refresh token and the scope that the answer leaves out", async () => {
  const { server } = await tokenEndpoint([200, { ...GIVEN, expires_in: "60" }]);
  const context = { server, client: { id: "me" }, fetch, signal, clock: () => 1_000 };
  const before = { access: "old", refresh: "r", scope: "s" };
  expect(await renewTokens(context, before)).toEqual({ access: "a", refresh: "r", scope: "s", expiresAt: 61_000 });
});

test.for<[string, number, object | string, string]>([
  ["an error with status 200", 200, { error: "bad_verification_code" }, "(200: bad_verification_code)"],
  ["text instead of JSON", 503, "<h1>no</h1>", "(503)"],
  ["no token", 200, { token_type: "Bearer" }, "(200)"],
])(
  "an OAuth token endpoint that returns %s is a refusal, and the error names host and status",
  async ([, status, body, words]) => {
    const { server } = await tokenEndpoint([status, body]);
    const asked = renewTokens({ server, client: { id: "me" }, fetch, signal }, { access: "x", refresh: "r" });
    const error = await asked.catch((thrown: unknown) => thrown);
    expect(isOAuthRefusal(error) && error.message).toBe(
      `${new URL(server.token_endpoint).host} gave no token ${words}`,
    );
  },
);

test("a browser sign-in proves itself with PKCE; the issuer is compared only if it is known", async () => {
  const { server, forms } = await tokenEndpoint([200, GIVEN], [200, GIVEN]);
  const secrets: string[] = [];
  let shown = "";
  const how: BrowserSignIn = {
    server,
    client: () => ({ id: "me" }),
    fetch,
    signal,
    scope: "a offline_access",
    resource: "https://it.example/",
    waiting: { port: 0 },
    show: async (url) => {
      shown = url;
      await fetch(url);
    },
    learn: (secret) => void secrets.push(secret),
  };
  expect(await signInWithBrowser(how)).toEqual({ access: "a" });
  const [form] = forms();
  const asked = new URL(shown).searchParams;
  expect(asked.get("code_challenge")).toBe(
    createHash("sha256").update(form!.get("code_verifier")!).digest("base64url"),
  );
  expect([asked.get("prompt"), asked.get("resource"), form!.get("resource")]).toEqual([
    "consent",
    "https://it.example/",
    "https://it.example/",
  ]);
  expect(secrets).toEqual([form!.get("code_verifier"), "c"]);
  await expect(signInWithBrowser({ ...how, server: { ...server, issuer: "https://other.example" } })).rejects.toThrow(
    /did not come from the authorization server/,
  );
  expect(forms()).toHaveLength(1);
});
