import { expect, test } from "vitest";
import { browserCommand } from "./open-browser.ts";

const url = "https://login.example/authorize?a=1&b='$(x)'";
const href = new URL(url).href;

test.each<[string, string, Record<string, string>, NodeJS.Platform, readonly string[] | undefined]>([
  ["the command in BROWSER", url, { BROWSER: "firefox --new-tab" }, "linux", ["firefox", "--new-tab", href]],
  [
    "a placeholder in the command of BROWSER",
    url,
    { BROWSER: "open-it --at=%s -q" },
    "linux",
    ["open-it", `--at=${href}`, "-q"],
  ],
  ["the program of a desktop", url, { DISPLAY: ":0" }, "linux", ["xdg-open", href]],
  ["the program of a Mac", url, {}, "darwin", ["/usr/bin/open", href]],
  ["nothing without a screen", url, {}, "linux", undefined],
  ["nothing in a remote session", url, { SSH_CONNECTION: "1", DISPLAY: ":0" }, "linux", undefined],
  ["nothing for an address that is not a page", "file:///bin/sh", { BROWSER: "firefox" }, "linux", undefined],
  ["nothing for a text that is not an address", "--version", { BROWSER: "firefox" }, "linux", undefined],
])("an address is opened with %s", (_, address, env, platform, wanted) => {
  expect(browserCommand(address, { env, platform })).toEqual(wanted);
});
