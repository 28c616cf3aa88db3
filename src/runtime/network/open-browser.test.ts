import { expect, test } from "vitest";
import { browserCommand } from "./open-browser.ts";

const url = "https://login.example/authorize?a=1&b='$(x)'";
const href = new URL(url).href;

test.each<[string, string, Record<string, string>, NodeJS.Platform, readonly string[] | undefined]>([
  ["what BROWSER says", url, { BROWSER: "firefox --new-tab" }, "linux", ["firefox", "--new-tab", href]],
  ["a place in what BROWSER says", url, { BROWSER: "open-it --at=%s -q" }, "linux", ["open-it", `--at=${href}`, "-q"]],
  ["what a desktop has", url, { DISPLAY: ":0" }, "linux", ["xdg-open", href]],
  ["what a Mac has", url, {}, "darwin", ["/usr/bin/open", href]],
  ["nothing without a screen", url, {}, "linux", undefined],
  ["nothing at the other end of a line", url, { SSH_CONNECTION: "1", DISPLAY: ":0" }, "linux", undefined],
  ["nothing that is no page", "file:///bin/sh", { BROWSER: "firefox" }, "linux", undefined],
  ["nothing that is no address", "--version", { BROWSER: "firefox" }, "linux", undefined],
])("an address is opened with %s", (_, address, env, platform, wanted) => {
  expect(browserCommand(address, { env, platform })).toEqual(wanted);
});
