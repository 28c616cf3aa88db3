import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Need, needs } from "../../../needs.ts";
import { place } from "../../command.ts";
import { type Terminal, terminal } from "../../terminal.ts";

const asked: string[] = [];
const registry = createServer((request, response) => {
  asked.push(request.url ?? "");
  response.end(JSON.stringify({ latest: "99.1.0" }));
});
const terminals: Terminal[] = [];
let tmux: Need;
let address = "";
beforeAll(async () => {
  tmux = await needs("tmux");
  await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve));
  address = `http://127.0.0.1:${(registry.address() as AddressInfo).port}/npm`;
}, 300_000);
afterAll(() => {
  for (const screen of terminals) screen.close();
  registry.close();
});

test("a newer version is announced once a day at a terminal; never in CI, in a pipe or where it is switched off", async (context) => {
  if (tmux.missing !== undefined) return context.skip(tmux.missing);
  const there = place();
  const screen = terminal(tmux.path, there, ["ps"], {
    rows: 30,
    env: { npm_config_registry: address },
    script: (line) =>
      [
        `CI=true ${line}`,
        `SUBCREW_UPDATES=off ${line}`,
        `${line} 2>/dev/null`,
        `${line} --json`,
        "echo [quiet so far]",
        line,
        line,
        'echo "[exit $?]"',
      ].join("\n"),
  });
  terminals.push(screen);
  await screen.until("[exit 0]");
  const [before = "", after = ""] = screen.history().replace(/\s+/g, " ").split("[quiet so far]");
  expect(before).not.toContain("is available");
  expect(after.match(/subcrew 99\.1\.0 is available; this is \d/g)).toHaveLength(1);
  expect(asked).toEqual(["/npm/-/package/subcrew/dist-tags"]);
});
