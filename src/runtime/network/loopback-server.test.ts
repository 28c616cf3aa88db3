import { expect, test } from "vitest";
import { createGuard } from "./loopback-server.ts";

test.for<[string, Parameters<ReturnType<typeof createGuard>>[0], string | number]>([
  ["our own name", { host: "localhost:7", authorization: "Bearer t" }, "ann"],
  ["the token of somebody else", { host: "localhost:7", authorization: "Bearer u" }, "ben"],
  ["a name in capitals", { host: "LOCALHOST:7", authorization: "Bearer t" }, "ann"],
  ["the name it was given", { host: "box.lan:7", authorization: "Bearer t" }, "ann"],
  ["a name with a port of its own", { host: "agents.example:8443", authorization: "Bearer t" }, "ann"],
  ["our own page", { host: "localhost:7", origin: "http://localhost:7", authorization: "Bearer t" }, "ann"],
  ["an address of version 6, on which it does not listen", { host: "[::1]:7", authorization: "Bearer t" }, 403],
  ["no host", { authorization: "Bearer t" }, 403],
  ["a longer name", { host: "localhost:7.evil.example", authorization: "Bearer t" }, 403],
  ["another port", { host: "localhost:8", authorization: "Bearer t" }, 403],
  [
    "another page of this machine",
    { host: "localhost:7", origin: "http://localhost:8", authorization: "Bearer t" },
    403,
  ],
  ["no token", { host: "localhost:7" }, 401],
  ["the token without its word", { host: "localhost:7", authorization: "t" }, 401],
])("a request with %s", ([, asked, judged]) => {
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
