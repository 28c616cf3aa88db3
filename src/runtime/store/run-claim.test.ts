import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { machineDisk } from "../disk/disk.ts";
import { claim, ownerOf } from "./run-claim.ts";

const busy = { code: "RUN_BUSY" };

describe("a run has only one owner", () => {
  test("while an owner holds the run, no other gets it; the next owner has a higher epoch", async () => {
    const folder = tempFolder();
    const first = await claim(folder);
    await expect(claim(folder)).rejects.toMatchObject(busy);
    await first.release();
    const second = await claim(folder);
    expect([first.epoch, second.epoch]).toEqual([1, 2]);
    await second.release();
  });

  test("a claim succeeds, and can be released, even if its draft file cannot be deleted", async () => {
    const folder = tempFolder();
    const disk = { ...machineDisk, rm: () => Promise.reject(Object.assign(new Error("EIO"), { code: "EIO" })) };
    const first = await claim(folder, { disk });
    await first.release();
    expect((await claim(folder)).epoch).toBe(2);
  });

  test("of many concurrent claims one succeeds, and the others are refused", async () => {
    const folder = tempFolder();
    const came = await Promise.allSettled(Array.from({ length: 20 }, () => claim(folder)));
    expect(came.filter(({ status }) => status === "fulfilled").length).toBe(1);
    for (const one of came) if (one.status === "rejected") expect(one.reason).toMatchObject(busy);
  });

  test("no owner number (epoch) is given twice, even with concurrent claims", async () => {
    const folder = tempFolder();
    const epochs: number[] = [];
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        for (let n = 0; n < 10; n += 1) {
          const owner = await claim(folder).catch(() => undefined);
          if (!owner) continue;
          epochs.push(owner.epoch);
          await owner.release();
        }
      }),
    );
    expect(new Set(epochs).size).toBe(epochs.length);
    expect(epochs.length).toBeGreaterThan(1);
  });
});

describe("a dead owner", () => {
  test("is replaced by the next owner", async () => {
    const folder = tempFolder();
    const { pid } = spawnSync(process.execPath, ["-e", ""]);
    writeFileSync(join(folder, "owner.7.json"), JSON.stringify({ pid, started: "1" }));
    expect((await claim(folder)).epoch).toBe(8);
  });

  test("is replaced even if its pid is used by another process", async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, "owner.1.json"), JSON.stringify({ pid: process.pid, started: "some time ago" }));
    expect((await claim(folder)).epoch).toBe(2);
  });

  test.each(["", "{", "[]", "null", '{"pid":-1}', '{"pid":"x"}'])(
    "a claim with the content %j expires soon",
    async (text) => {
      const folder = tempFolder();
      const file = join(folder, "owner.1.json");
      writeFileSync(file, text);
      utimesSync(file, new Date(0), new Date(0));
      expect((await claim(folder)).epoch).toBe(2);
    },
  );

  test("a claim that is still being written is respected", async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, "owner.1.json"), "");
    await expect(claim(folder)).rejects.toMatchObject(busy);
    expect(readdirSync(folder)).toEqual(["owner.1.json"]);
  });
});

describe("a claim of another machine", () => {
  const elsewhere = (): string =>
    tempFolder({
      "owner.3.json": JSON.stringify({ pid: process.pid, started: "1", boot: "another", host: "build-7" }),
    });

  test("is not taken over: this machine cannot see whether its process lives", async () => {
    const folder = elsewhere();
    expect(await ownerOf(folder)).toEqual({ pid: process.pid, host: "build-7" });
    await expect(claim(folder)).rejects.toMatchObject({
      ...busy,
      message: expect.stringContaining('"build-7"'),
      hint: expect.stringContaining("--force"),
    });
  });

  test("is taken over by force, and its owner may not continue", async () => {
    const owner = await claim(elsewhere(), { force: true });
    expect(owner.epoch).toBe(4);
    await owner.release();
  });

  test("force does not take a run from a living process of this machine", async () => {
    const folder = tempFolder();
    await claim(folder);
    await expect(claim(folder, { force: true })).rejects.toMatchObject(busy);
  });
});

test("a claim records its machine, and whether its process serves only this run", async () => {
  const folder = tempFolder();
  await claim(folder, { sole: true });
  expect(await ownerOf(folder)).toEqual({ pid: process.pid, sole: true });
  expect(JSON.parse(readFileSync(join(folder, "owner.1.json"), "utf8"))).toMatchObject({ host: hostname() });
});

test("a replaced owner may not continue", async () => {
  const folder = tempFolder();
  const old = await claim(folder);
  old.hold();
  writeFileSync(join(folder, "owner.2.json"), "{}");
  expect(() => old.hold()).toThrow(expect.objectContaining(busy));
  await old.release();
  expect(existsSync(join(folder, "released.1.json"))).toBe(true);
});
