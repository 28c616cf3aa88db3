import { expect, test } from "vitest";
import { createGuard } from "./loopback-server.ts";

test.for<[string, Parameters<ReturnType<typeof createGuard>>[0], string | number]>([
  ["the server's own host name", { host: "localhost:7", authorization: "Bearer t" }, "ann"],
  ["the token of another server", { host: "localhost:7", authorization: "Bearer u" }, "ben"],
  ["a host name in capitals", { host: "LOCALHOST:7", authorization: "Bearer t" }, "ann"],
  ["the host name that was configured", { host: "box.lan:7", authorization: "Bearer t" }, "ann"],
  ["a host name with its own port", { host: "agents.example:8443", authorization: "Bearer t" }, "ann"],
  [
    "a page of the server itself",
    { host: "localhost:7", origin: "http://localhost:7", authorization: "Bearer t" },
    "ann",
  ],
  ["an IPv6 address on which it does not listen", { host: "[::1]:7", authorization: "Bearer t" }, 403],
  ["no host", { authorization: "Bearer t" }, 403],
  ["a longer host name", { host: "localhost:7.evil.example", authorization: "Bearer t" }, 403],
  ["another port", { host: "localhost:8", authorization: "Bearer t" }, 403],
  [
    "a page of another server on this machine",
    { host: "localhost:7", origin: "http://localhost:8", authorization: "Bearer t" },
    403,
  ],
  ["no token", { host: "localhost:7" }, 401],
  ["the token without the word Bearer", { host: "localhost:7", authorization: "t" }, 401],
])("the local server accepts or refuses a request with %s", ([, asked, judged]) => {
  const guard = createGuard({ tokens: { ann: "t", ben: "u" }, port: 7, hosts: ["box.lan", "agents.example:8443"] });
  expect(guard(asked)).toEqual(typeof judged === "string" ? { caller: judged } : judged);
});

test("an IPv6 address is an accepted host name where the server listens on it", () => {
  const guard = createGuard({ tokens: { ann: "t" }, port: 7, hosts: [], bound: "::1" });
  expect(guard({ host: "[::1]:7", authorization: "Bearer t" })).toEqual({ caller: "ann" });
  expect(guard({ host: "127.0.0.1:7", authorization: "Bearer t" })).toBe(403);
});

test("a request that needs no token still needs a known host name, and has no caller", () => {
  const guard = createGuard({ tokens: { ann: "t" }, port: 7, hosts: [] });
  expect(guard({ host: "localhost:7" }, { open: true })).toEqual({ caller: "" });
  expect(guard({ host: "evil.example:7" }, { open: true })).toBe(403);
});
