import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, chownSync, copyFileSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { objectsNamedIn } from "../../src/engines/objects/open-objects.ts";
import { LARGE_BYTES, openArtifacts } from "../../src/engines/postgres/artifacts.ts";
import { type Database, openDatabase } from "../../src/engines/postgres/database.ts";
import { demandSchema, migrate } from "../../src/engines/postgres/migrate.ts";
import { migrations } from "../../src/engines/postgres/migrations.ts";
import { ENGINE_ROLES, grantRoles } from "../../src/engines/roles.ts";
import { artifactOf } from "../../src/runtime/disk/artifact-of.ts";
import { usePostgres } from "../support/postgres.ts";
import { startS3 } from "../support/s3-server.ts";
import { tempFolder } from "../support/temp-folder.ts";

const postgres = usePostgres();
let url = "";
let owner: Database;
const opened: Database[] = [];

beforeAll(async () => {
  if (postgres.isMissing()) return;
  url = await postgres.server().fresh();
  owner = open(url);
}, 120_000);
afterAll(async () => {
  await Promise.all(opened.map((one) => one.close()));
}, 60_000);

function open(address: string): Database {
  const made = openDatabase(address, { connections: 2 });
  opened.push(made);
  return made;
}

describe("migrations", () => {
  test("two processes that migrate at the same time apply each step once", async () => {
    const empty = await postgres.server().empty();
    const both = await Promise.all([migrate(open(empty)), migrate(open(empty))]);
    expect(both.flat()).toEqual(migrations.map(({ name }) => name));
  });

  test("a newer schema is not migrated, and is used unless one of its steps requires a newer process", async () => {
    const at = open(await postgres.server().fresh());
    const later = [...migrations, { name: "later", sql: "create table later (x integer)" }];
    expect(await migrate(at, later)).toEqual(["later"]);
    await expect(migrate(at)).rejects.toThrow(
      /newer than this version of subcrew \(step \d+, this version knows \d+\)/,
    );
    await demandSchema(at);
    await migrate(at, [...later, { name: "breaks", sql: "select 1", needs: later.length + 1 }]);
    await expect(demandSchema(at)).rejects.toMatchObject({ code: "ENGINE_OUTDATED" });
  });
});

describe("roles for the kinds of processes", () => {
  const logins: Record<string, Database> = {};
  beforeAll(async () => {
    if (postgres.isMissing()) return;
    expect(await grantRoles(owner)).toEqual({ granted: true });
    for (const [kind, role] of Object.entries({ ...ENGINE_ROLES, other: ENGINE_ROLES.worker })) {
      await owner.query(`create role login_${kind} login password 'pass' in role ${role}`);
      const address = new URL(url);
      [address.username, address.password] = [`login_${kind}`, "pass"];
      logins[kind] = open(address.href);
    }
    const add =
      "insert into subcrew.processes (id, host, pid, role, class, version, protocol) values ($1, 'h', 1, 'work', $2, 'v', 1)";
    await logins["worker"]!.query(add, ["w1", "c1"]);
    await logins["other"]!.query(add, ["w2", "c2"]);
    await logins["coordinator"]!.query(
      `insert into subcrew.calls (call, run, owner, run_epoch, state, needs, class, job) values ('r/a#1', 'r', 'o', 1, 'placed', '{}', 'c1', '{"agent":"mine"}')`,
    );
    await logins["coordinator"]!.query("insert into subcrew.events values ('r', 1, 1, '', '{}')");
    await logins["coordinator"]!.query(
      `insert into subcrew.calls (call, run, owner, run_epoch, state, needs, class, worker) values
       ('r/b#1', 'r', 'o', 1, 'placed', '{}', 'c1', null), ('r/c#1', 'r', 'o', 1, 'taken', '{}', 'c1', 'w2')`,
    );
    await logins["coordinator"]!.query("insert into subcrew.runs (run, owner) values ('gone', 'dead owner')");
  });

  test("the rights of database roles are granted once", async () => {
    expect(await grantRoles(owner)).toEqual({ granted: false });
  });

  test("every table is protected by row security", async () => {
    const [row] = await owner.query<{ open: string[] | null }>(
      "select array_agg(relname::text) as open from pg_class where relnamespace = 'subcrew'::regnamespace and relkind = 'r' and not relrowsecurity",
    );
    expect(row?.open).toBeNull();
  });

  test("a worker takes a call of its own class and reports what it did", async () => {
    const { worker, other } = logins;
    const take = "update subcrew.calls set state = 'taken', worker = $1 where call = 'r/a#1' returning job";
    expect(await other!.query(take, ["w2"])).toEqual([]);
    expect(await worker!.query(take, ["w1"])).toEqual([{ job: { agent: "mine" } }]);
    const say = "insert into subcrew.facts values ('r/a#1', 1, $1, '[]')";
    await worker!.query(say, [0]);
    await expect(other!.query(say, [1])).rejects.toMatchObject({ code: "LOGIN_FAILED" });
  });

  test.each([
    ["worker", "update subcrew.calls set job = '{}'"],
    ["worker", "update subcrew.calls set class = 'c2'"],
    [
      "worker",
      "insert into subcrew.calls (call, run, owner, run_epoch, state, needs) values ('x', 'r', 'o', 1, 'placed', '{}')",
    ],
    ["worker", "insert into subcrew.events values ('r', 2, 1, '', '{}')"],
    ["worker", "update subcrew.runs set owner = null"],
    ["worker", "insert into subcrew.commands (run, body, key) values ('r', '{}', gen_random_uuid())"],
    ["worker", "insert into subcrew.mail (call, epoch, body, key) values ('r/a#1', 1, '[]', gen_random_uuid())"],
    [
      "worker",
      "insert into subcrew.processes (id, host, pid, version, protocol, login) values ('w9', 'h', 1, 'v', 1, 'login_other')",
    ],
    ["worker", "insert into subcrew.events values ('other', 1, 9, 'a', '{}')"],
    ["worker", "update subcrew.calls set epoch = 99"],
    ["worker", "update subcrew.calls set worker = 'w2' where call = 'r/a#1'"],
    ["worker", "update subcrew.calls set state = 'done' where call = 'r/b#1'"], // no worker has this call
    ["worker", "insert into subcrew.facts values ('r/a#1', 2, 0, '[]')"],
    // a call of a worker with another login, in the same class
    ["worker", "insert into subcrew.facts values ('r/c#1', 1, 9, '[]')"],
    ["worker", "insert into subcrew.answers values ('other/gate', '{}')"],
    ["worker", "insert into subcrew.leases (id, process, entry) values ('x', 'w1', '{}')"],
    ["worker", "insert into subcrew.timers values ('r/a#1', now())"],
    ["worker", "insert into subcrew.documents values ('r', 'request', '{}')"],
    ["worker", "insert into subcrew.results (key, run, path, at) values ('k', 'other', 'a', 1)"],
    ["worker", "insert into subcrew.quota values ('*', 0, 0, 0)"],
    ["worker", "insert into subcrew.model_requests values ('*', gen_random_uuid(), 'w2', 1)"],
    ["worker", "insert into subcrew.model_requests values ('*', gen_random_uuid(), 'w1', -1000000)"],
    ["worker", "insert into subcrew.model_requests values ('*', gen_random_uuid(), 'w1', 1, false, 'infinity')"],
    ["worker", "update subcrew.processes set beat = 'infinity' where id = 'w1'"],
    ["worker", "update subcrew.processes set id = 'handed over' where id = 'w1'"],
    [
      "worker",
      "insert into subcrew.processes (id, host, pid, version, protocol) values ('dead owner', 'h', 1, 'v', 1)",
    ],
    ["worker", "drop table subcrew.events"],
    ["reader", "insert into subcrew.commands (run, body, key) values ('r', '{}', gen_random_uuid())"],
    ["reader", "delete from subcrew.events"],
    ["coordinator", "alter table subcrew.calls disable row level security"],
  ])("a %s cannot: %s", async (kind, sql) => {
    await expect(logins[kind]!.query(sql)).rejects.toMatchObject({
      code: "LOGIN_FAILED",
      message: /lacks a permission/,
    });
  });

  test("a worker can neither take nor end a task that is assigned to a worker with another database login, even in the same worker class", async () => {
    const { worker } = logins;
    for (const change of ["state = 'taken', worker = 'w1'", "state = 'done'", "state = 'returned'"])
      expect(await worker!.query(`update subcrew.calls set ${change} where call = 'r/c#1' returning call`)).toEqual([]);
    expect(
      await worker!.query("update subcrew.calls set state = 'returned' where call = 'r/b#1' returning call"),
    ).toEqual([{ call: "r/b#1" }]);
  });

  test("a worker stores the patch, the progress and the long results of its own task only", async () => {
    const { hash, bytes } = artifactOf("x");
    await owner.query("insert into subcrew.artifacts (hash, bytes, body) values ($1, $2, 'x')", [hash, bytes]);
    const add = "insert into subcrew.calls (call, run, owner, run_epoch, state, needs, class, worker) values ";
    await owner.query(
      `${add} ('r/up/d#1', 'r', 'o', 1, 'taken', '{}', 'c1', 'w1'), ('r/e#2', 'r', 'o', 1, 'done', '{}', 'c1', 'w1')`,
    );
    await owner.query("insert into subcrew.outputs values ('r', 'c', 'patch', $1)", [hash]);
    const put = (path: string, kind: string): Promise<unknown> =>
      logins["worker"]!.query(
        `insert into subcrew.outputs values ('r', $1, $2, $3) on conflict (run, path, kind) do update set hash = excluded.hash`,
        [path, kind, hash],
      );
    const own = [
      ["up/d", "patch"],
      ["up/d", "progress"],
      ["up/d", "files"],
      ["e.2", "patch"],
      ["up/d.look-1", "output"],
    ] as const;
    for (const [path, kind] of own) await put(path, kind);
    const others = [
      ["c", "patch"], // a task of another login
      ["c", "progress"],
      ["new", "patch"],
      ["d", "patch"],
      ["up/d/deeper", "patch"],
      ["up/d.2", "patch"],
      ["e", "patch"], // another attempt
      ["up/d", "dirty"], // what only the process of the run stores
      ["up/d", "bundle"],
      ["up/d", "output"],
      ["c.look-1", "output"],
      [`image-${hash}`, "output"],
      ["", "output"],
    ] as const;
    for (const [path, kind] of others)
      await expect(put(path, kind), `${path} ${kind}`).rejects.toMatchObject({ code: "LOGIN_FAILED" });
    await expect(
      logins["worker"]!.query("update subcrew.outputs set hash = $1 where path = 'c' returning path", [hash]),
    ).resolves.toEqual([]);
    await owner.query("delete from subcrew.outputs");
    await owner.query("delete from subcrew.calls where call in ('r/up/d#1', 'r/e#2')");
  });

  test("content that does not match its hash is refused, whichever role stores it", async () => {
    const forged = "insert into subcrew.artifacts (hash, bytes, body) values ($1, 1, 'x')";
    for (const kind of ["worker", "coordinator"])
      await expect(logins[kind]!.query(forged, [artifactOf("a result").hash])).rejects.toThrow("artifacts_match");
  });

  test("a worker cannot change the row of another login's worker, and a reader can only read", async () => {
    expect(
      await logins["worker"]!.query("update subcrew.processes set class = 'c1' where id = 'w2' returning id"),
    ).toEqual([]);
    expect(await logins["reader"]!.query("select seq from subcrew.events")).toEqual([{ seq: "1" }]);
  });
});

describe("TLS settings in the address", () => {
  const folder = mkdtempSync(join(tmpdir(), "subcrew-tls-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const file = (name: string): string => join(folder, name);
  beforeAll(async () => {
    if (postgres.isMissing()) return;
    for (const name of ["server", "other"])
      execFileSync(
        "openssl",
        [
          "req",
          "-x509",
          "-newkey",
          "ec",
          "-pkeyopt",
          "ec_paramgen_curve:prime256v1",
          "-nodes",
          "-days",
          "2",
          "-subj",
          "/CN=localhost",
          "-addext",
          "subjectAltName=DNS:localhost",
          "-keyout",
          file(`${name}.key`),
          "-out",
          file(`${name}.crt`),
        ],
        { stdio: "ignore" },
      );
    const [{ data_directory: data } = { data_directory: "" }] = await owner.query<{ data_directory: string }>(
      "show data_directory",
    );
    const { uid, gid } = statSync(data);
    for (const name of ["server.key", "server.crt"]) {
      copyFileSync(file(name), join(data, name));
      chownSync(join(data, name), uid, gid);
      chmodSync(join(data, name), 0o600);
    }
    await owner.query("alter system set ssl = on");
    await owner.query("select pg_reload_conf()");
  });
  const address = (host: string, query: string): string => {
    const made = new URL(url);
    made.hostname = host;
    made.search = query;
    return made.href;
  };

  test("verify-full connects with the right authority, encrypted", async () => {
    const at = open(address("localhost", `?sslmode=verify-full&sslrootcert=${file("server.crt")}`));
    await expect
      .poll(() => at.query("select ssl from pg_stat_ssl where pid = pg_backend_pid()").catch(String), {
        timeout: 60_000,
      })
      .toEqual([{ ssl: true }]);
  });

  test.each([
    ["a certificate of another authority", "localhost", "other.crt"],
    ["a certificate for another host name", "127.0.0.1", "server.crt"],
  ])("verify-full refuses %s with an error of one sentence", async (_, host, authority) => {
    const at = open(address(host, `?sslmode=verify-full&sslrootcert=${file(authority)}`));
    await expect(at.query("select 1")).rejects.toMatchObject({
      code: "ENGINE_UNREACHABLE",
      message: /certificate of the engine/,
    });
  });

  test("a wrong password is reported as such, and is not shown", async () => {
    const at = open(url.replace(/:[^:@]+@/, ":wrong-secret@"));
    const error = await at.query("select 1").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "LOGIN_FAILED" });
    expect(String(error)).not.toContain("wrong-secret");
  });
});

describe("large results", () => {
  const small = "x".repeat(100);
  const large = randomBytes(LARGE_BYTES).toString("hex");
  const bucket = async (): Promise<Awaited<ReturnType<typeof startS3>>> => startS3({ KEYID: "secret/+key" });

  test("results over 1 MB are stored in a folder or bucket, others in the database, and both are read by their hash", async () => {
    const s3 = await bucket();
    const env = { AWS_ACCESS_KEY_ID: "KEYID", AWS_SECRET_ACCESS_KEY: "secret/+key" };
    const folder = tempFolder();
    try {
      for (const place of [folder, `s3://box/a%20b/ü?endpoint=${s3.url}`]) {
        await owner.query("truncate subcrew.artifacts cascade");
        const store = openArtifacts(owner, objectsNamedIn({ ...env, SUBCREW_ARTIFACTS: place }));
        s3.failNext(place === folder ? 0 : 2); // a request to a busy server is repeated
        for (const text of [small, large]) await store.put(artifactOf(text), Buffer.from(text));
        const rows = await owner.query(
          "select bytes::integer, body is null as outside from subcrew.artifacts order by bytes",
        );
        expect(rows).toEqual([
          { bytes: small.length, outside: false },
          { bytes: large.length, outside: true },
        ]);
        for (const text of [small, large]) expect(String(await store.get(artifactOf(text).hash))).toBe(text);
        await expect(openArtifacts(owner).get(artifactOf(large).hash)).rejects.toThrow("outside of the database");
      }
      expect([s3.objects.size, s3.refused]).toEqual([1, []]);
      const [name = ""] = s3.objects.keys();
      s3.objects.set(name, Buffer.from("changed"));
      const reading = objectsNamedIn({ ...env, SUBCREW_ARTIFACTS: `s3://box/a%20b/ü?endpoint=${s3.url}` });
      await expect(openArtifacts(owner, reading).get(artifactOf(large).hash)).rejects.toThrow("was changed");
      const wrong = objectsNamedIn({
        ...env,
        AWS_SECRET_ACCESS_KEY: "no",
        SUBCREW_ARTIFACTS: `s3://box?endpoint=${s3.url}`,
      });
      await expect(openArtifacts(owner, wrong).put(artifactOf(large), Buffer.from(large))).rejects.toThrow(
        "SignatureDoesNotMatch",
      );
      await owner.query("update subcrew.artifacts set created = now() - interval '2 hours'");
      await openArtifacts(owner, reading).sweep();
      expect(s3.objects.size).toBe(0);
      expect(readdirSync(folder)).not.toEqual([]);
    } finally {
      s3.stop();
    }
  });

  test.each([
    ["relative/folder", "neither a folder nor a bucket"],
    ["s3://box", "no access key for the bucket is set"],
  ])("SUBCREW_ARTIFACTS=%s is refused with an error of one sentence", (word, text) => {
    expect(() => objectsNamedIn({ SUBCREW_ARTIFACTS: word })).toThrow(text);
  });
});
