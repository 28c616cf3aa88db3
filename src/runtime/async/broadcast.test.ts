import { expect, test } from "vitest";
import { Broadcast } from "./broadcast.ts";

async function allOf<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const value of values) all.push(value);
  return all;
}

test("broadcast: every listener gets the values sent since its first read, in order, and ends with the broadcast", async () => {
  const all = new Broadcast<number>();
  const early = all.listen();
  const first = early.next();
  all.send(1);
  const late = all.listen();
  const second = late.next();
  all.send(2);
  all.send(3);
  all.end();
  expect(await first).toEqual({ done: false, value: 1 });
  expect(await allOf(early)).toEqual([2, 3]);
  expect(await second).toEqual({ done: false, value: 2 });
  expect(await allOf(late)).toEqual([3]);
  expect(await allOf(all.listen())).toEqual([]);
});

test("broadcast: a listener gets the values before a failure first, then the failure once", async () => {
  const all = new Broadcast<number>();
  const values = all.listen();
  const first = values.next();
  all.send(1);
  all.send(2);
  all.end(new Error("broken"));
  expect(await first).toEqual({ done: false, value: 1 });
  expect(await values.next()).toEqual({ done: false, value: 2 });
  await expect(values.next()).rejects.toThrow("broken");
  expect(await values.next()).toEqual({ done: true, value: undefined });
  await expect(all.listen().next()).rejects.toThrow("broken");
});

test("broadcast: a listener that stops gets nothing more, and its pending reads end", async () => {
  const all = new Broadcast<number>();
  const values = all.listen();
  const looks = [values.next(), values.next(), values.next()];
  all.send(1);
  await values.return();
  all.send(2);
  expect(await Promise.all(looks)).toEqual([
    { done: false, value: 1 },
    { done: true, value: undefined },
    { done: true, value: undefined },
  ]);
  expect(await values.next()).toEqual({ done: true, value: undefined });
});
