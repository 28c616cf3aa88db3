import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { newSecrets } from "../../web/sessions.ts";
import { isServed } from "./web-file.ts";

test("a web server that answers after some seconds counts as running; a closed server, or a server that is not subcrew, does not", async () => {
  let answer = { after: 2_500, text: "Sign in to subcrew web." };
  const server = createServer((_, response) => {
    setTimeout(() => response.writeHead(401).end(answer.text), answer.after);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const record = { ...newSecrets(undefined), port: (server.address() as AddressInfo).port, pid: process.pid };
  expect(await isServed(record)).toBe(true);
  answer = { after: 0, text: "Sign in to something else." };
  expect(await isServed(record)).toBe(false);
  await new Promise((resolve) => server.close(resolve));
  expect(await isServed(record)).toBe(false);
});
