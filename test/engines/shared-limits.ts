import { describe, expect, test } from "vitest";
import type { Hold } from "../../src/core/model/hold.ts";
import type { ModelRequest } from "../../src/core/model/model.ts";
import type { QuotaEntry } from "../../src/core/model/request-quota.ts";
import type { Database } from "../../src/engines/postgres/database.ts";
import { engineHolds } from "../../src/engines/postgres/holds.ts";
import { createPresence } from "../../src/engines/postgres/presence.ts";
import { engineQuota, limitTable } from "../../src/engines/postgres/quota.ts";
import { createModelRegistry, type ModelRegistry } from "../../src/models/registry/registry.ts";
import { startProviderServer } from "../../src/testing/provider-server.ts";

const alive = (): AbortSignal => new AbortController().signal;
const request = (tokens = 10) => ({ provider: "lab", model: "m", tokens });
const asked: ModelRequest = {
  model: "m",
  system: "",
  messages: [{ role: "user", text: "hello" }],
  tools: [],
  toolChoice: "auto",
};

/** Limits and refused keys that several processes of one engine share. `process` opens another one. */
export function sharedLimitsSuite(process: () => Database): void {
  const quotaOf = (database = process()) => engineQuota(database, createPresence(database));
  const enter = (quota: ReturnType<typeof quotaOf>, tokens?: number, signal = alive()) =>
    quota.enter(request(tokens), { signal, waits: () => {} });

  describe("shared limits on model requests", () => {
    test("concurrent requests: the requests of two processes stay within the limit, and the end of one request admits the next", async () => {
      const admin = process();
      await limitTable(admin).set("lab", { concurrency: 3 });
      const countOpen = async () => (await admin.query("select 1 from subcrew.model_requests where not ended")).length;
      const [here, there] = [quotaOf(), quotaOf()];
      const inside = await Promise.all([enter(here), enter(there), enter(here)]);
      let waits = 0;
      const late = [here, there].map((quota) =>
        quota.enter(request(), { signal: alive(), waits: () => void (waits += 1) }),
      );
      await expect.poll(() => waits).toBe(2);
      await inside[0]?.leave(1);
      const next = await Promise.race(late);
      expect([next !== undefined, await countOpen()]).toEqual([true, 3]);
      for (const entry of [...inside.slice(1), next]) await entry?.leave(1);
      expect(await Promise.all(late)).not.toContain(undefined);
    });

    test("the requests of a dead process stop counting against the limit", async () => {
      const admin = process();
      await limitTable(admin).set("lab", { concurrency: 1 });
      // this request stays within the limit until its process counts as dead
      expect(await enter(quotaOf())).toBeDefined();
      await admin.query("update subcrew.processes set beat = beat - interval '11 seconds'");
      const entry = await enter(quotaOf());
      expect(entry).toBeDefined();
      await entry?.leave();
    });

    test.each([
      ["requests", { requests: 5 }, 1],
      ["tokens", { tokens: 50 }, 10],
      ["requests of a whole model", { requests: 5 }, 1],
    ])(
      "%s per minute: no period of 60 seconds exceeds the limit, by the clock of the database",
      async (what, limits, size) => {
        const admin = process();
        await limitTable(admin).set(what.endsWith("model") ? "lab/m" : "lab", limits);
        const quotas = [quotaOf(), quotaOf()];
        const entries: (QuotaEntry | undefined)[] = [];
        for (let at = 0; at < 5; at += 1) entries.push(await enter(quotas[at % 2]!, size));
        for (const entry of entries) await entry?.leave(size);
        const stop = new AbortController();
        const waits: string[] = [];
        const late = quotas[0]!.enter(request(size), {
          signal: stop.signal,
          waits: (why) => {
            waits.push(why);
            stop.abort();
          },
        });
        expect(await late).toBeUndefined();
        expect(waits[0]).toContain("per minute");
        await admin.query("update subcrew.model_requests set began = began - interval '61 seconds'");
        const next = await enter(quotas[1]!, size);
        expect(next).toBeDefined();
        await next?.leave(size);
      },
    );

    test("the real usage of a request counts afterwards, a request larger than the whole limit runs alone, and a limit can be removed", async () => {
      const table = limitTable(process());
      await table.set("*", { tokens: 100 });
      const quota = quotaOf();
      const large = await enter(quota, 5_000);
      await large?.leave(20);
      const small = await enter(quota, 60);
      await small?.leave(80);
      const waiting = enter(quota, 60);
      await table.set("*", undefined);
      expect(await waiting).toBeDefined();
      expect([...(await table.read())]).toEqual([]);
    });
  });

  describe("keys that a provider refuses", () => {
    /** The models of another process, with the same key at the same provider. */
    const modelsOf = (url: string, database = process()): ModelRegistry =>
      createModelRegistry({
        providers: { lab: { baseURL: url, apiKey: "k" } },
        holds: engineHolds(database, createPresence(database)),
      });
    const ask = async (models: ModelRegistry, parks = false): Promise<string> => {
      const chosen = await models
        .forRun({ parks, since: 0, insists: false })
        .choose([{ by: "call", names: "lab/m" }], { retry: false });
      if (!("model" in chosen)) return "none";
      for await (const event of chosen.model({ ...asked }, alive()))
        if (event.type === "error") return event.fault.code;
      return "answered";
    };

    test("a refused key blocks the provider for other processes without a request of theirs, and one successful probe unblocks it for all", async () => {
      let closed = true;
      const server = await startProviderServer(async () =>
        // Long enough for a busy machine: all processes have to send their requests before the next try.
        closed ? { fault: "rate-limit", retryAfter: "5" } : { text: "hello", delayMs: 50 },
      );
      try {
        const all = [modelsOf(`${server.url}/v1`), modelsOf(`${server.url}/v1`), modelsOf(`${server.url}/v1`)];
        expect(await ask(all[0]!, true)).toBe("MODEL_RATE_LIMIT");
        expect(await Promise.all(all.map((one) => ask(one, true)))).toEqual(Array(3).fill("MODEL_RATE_LIMIT"));
        expect(server.requests).toHaveLength(1);
        closed = false;
        const answers = await Promise.all(all.map((one) => ask(one)));
        expect(answers).toEqual(Array(3).fill("answered"));
        const [probe, ...others] = server.requests.slice(1);
        expect(await probe?.ended).toBe("answered");
        expect(others).toHaveLength(2);
      } finally {
        await server.close();
      }
    });

    test("only one process at a time probes the provider, and a wrong clock does not matter", async () => {
      const [here, there, admin] = [process(), process(), process()];
      const [one, other] = [here, there].map((database) => engineHolds(database, createPresence(database)));
      const hold = (now: number): Hold => ({
        kind: "quota",
        fault: { code: "MODEL_RATE_LIMIT", message: "slow down", retryable: true },
        seen: now,
        tries: 1,
        probeAt: now + 40_000,
      });
      await one!.put("key", () => hold(Date.now()));
      const [row] = await admin.query<{ ahead: number }>(
        "select (hold->>'probeAt')::float8 - extract(epoch from clock_timestamp())::float8 * 1000 as ahead from subcrew.holds",
      );
      expect(row?.ahead).toBeGreaterThan(30_000);
      expect(await other!.look("key")).toMatchObject({ kind: "quota" });
      const claim = await one!.claimProbe("key");
      expect(claim).toBeDefined();
      expect(await other!.claimProbe("key")).toBeUndefined();
      await claim?.release();
      const second = await other!.claimProbe("key");
      expect(second).toBeDefined();
      await admin.query("update subcrew.processes set beat = beat - interval '11 seconds'");
      expect(await one!.claimProbe("key")).toBeDefined();
      await one!.lift("key");
      await expect.poll(() => other!.look("key")).toBeUndefined();
    });
  });
}
