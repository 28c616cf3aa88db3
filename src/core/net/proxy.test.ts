import { expect, test } from "vitest";
import { proxyFor } from "./proxy.ts";

const all = { HTTPS_PROXY: "http://secure:1", HTTP_PROXY: "http://plain:1" };

test.each<[what: string, address: string, env: Record<string, string>, wanted: string | undefined]>([
  ["https", "https://api.example.com/v1", all, "http://secure:1"],
  ["http", "http://api.example.com/v1", all, "http://plain:1"],
  ["nothing is set", "https://api.example.com/v1", {}, undefined],
  ["set to an empty text", "https://api.example.com/v1", { HTTPS_PROXY: "" }, undefined],
  ["lower-case names win", "https://api.example.com", { ...all, https_proxy: "http://small:1" }, "http://small:1"],
  ["one proxy for all requests", "https://api.example.com", { ALL_PROXY: "http://any:1" }, "http://any:1"],
  ["without a protocol", "https://api.example.com", { HTTPS_PROXY: "gate:3128" }, "http://gate:3128"],
  ["this machine", "http://127.0.0.1:11434/v1", all, undefined],
  ["this machine by name", "http://localhost:11434/v1", all, undefined],
  ["excluded by its name", "https://api.example.com", { ...all, NO_PROXY: "other.com, api.example.com" }, undefined],
  ["excluded by its domain", "https://api.example.com", { ...all, NO_PROXY: ".example.com" }, undefined],
  ["excluded by its domain, without a dot", "https://api.example.com", { ...all, no_proxy: "example.com" }, undefined],
  ["everything is excluded", "https://api.example.com", { ...all, NO_PROXY: "*" }, undefined],
  ["excluded by its port", "https://api.example.com:8443", { ...all, NO_PROXY: "example.com:8443" }, undefined],
  ["another port", "https://api.example.com", { ...all, NO_PROXY: "example.com:8443" }, "http://secure:1"],
  [
    "a host whose end only looks similar",
    "https://notexample.com",
    { ...all, NO_PROXY: "example.com" },
    "http://secure:1",
  ],
  ["a header of a web request", "http://api.example.com", { ...all, REQUEST_METHOD: "GET" }, undefined],
])("the proxy of a request: %s", (_, address, env, wanted) => {
  expect(proxyFor(address, env)).toBe(wanted);
});
