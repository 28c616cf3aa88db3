import http, { type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { readPieces } from "./read-pieces.ts";

/** The response of a server that handles each request with `serve`. */
async function answerOf(serve: (response: ServerResponse) => void): Promise<IncomingMessage> {
  const server = http.createServer((_request, response) => serve(response));
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    http.get({ port, host: "127.0.0.1", agent: false }, resolve).on("error", reject);
  });
}

async function textOf(answer: IncomingMessage): Promise<string> {
  let text = "";
  for await (const piece of readPieces(answer)) text += piece;
  return text;
}

test("a text comes as it was sent, also when a character is divided between two packets", async () => {
  const [first = 0, second = 0] = Buffer.from("é");
  const answer = await answerOf((response) => {
    response.write(Buffer.from([0x61, first]));
    setImmediate(() => response.end(Buffer.from([second, 0x62])));
  });
  expect(await textOf(answer)).toBe("aéb");
});

test("an answer without content ends", async () => {
  expect(await textOf(await answerOf((response) => response.end()))).toBe("");
});

test("what arrived before a broken connection is read, and then it fails", async () => {
  const answer = await answerOf((response) => response.write("half", () => response.destroy()));
  const read: string[] = [];
  const reading = async (): Promise<void> => {
    for await (const piece of readPieces(answer)) read.push(piece);
  };
  await expect(reading()).rejects.toThrow("aborted");
  expect(read.join("")).toBe("half");
});

test("an answer that is destroyed while it is waited for fails at once", async () => {
  const answer = await answerOf((response) => response.write("more follows never"));
  const pieces = readPieces(answer)[Symbol.asyncIterator]();
  expect(await pieces.next()).toEqual({ done: false, value: "more follows never" });
  const waiting = pieces.next();
  answer.destroy();
  await expect(waiting).rejects.toThrow();
});

test("a provider that sends faster than its answer is read has to wait", async () => {
  const answer = await answerOf((response) => response.end("x".repeat(8_000_000)));
  const pieces = readPieces(answer)[Symbol.asyncIterator]();
  await vi.waitFor(() => expect(answer.isPaused()).toBe(true));
  let length = 0;
  for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) length += next.value.length;
  expect(length).toBe(8_000_000);
});
