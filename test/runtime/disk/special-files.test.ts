import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tokensIn } from "../../../src/cli/a2a/token-file.ts";
import { readConfigFile } from "../../../src/cli/base/config-file.ts";
import { readText } from "../../../src/cli/launch/read-input.ts";
import { createScriptReader } from "../../../src/models/scripted/scripted-file.ts";
import { openKeptRules } from "../../../src/runtime/access/approved-rules.ts";
import { readRequest } from "../../../src/runtime/background/run-request.ts";
import { readCassette } from "../../../src/runtime/cassette/cassette.ts";
import { readCommandRecord } from "../../../src/runtime/commands/command-record.ts";
import { alone } from "../../../src/runtime/disk/file-lock.ts";
import { ownerOf } from "../../../src/runtime/store/run-claim.ts";
import { openTrust } from "../../../src/runtime/settings/trust.ts";
import { openJournal } from "../../../src/runtime/store/journal.ts";
import { openResults } from "../../../src/runtime/store/recorded-results.ts";
import { createFolderStore } from "../../../src/runtime/store/folder-store.ts";
import { firstEvent, lastEvent } from "../../../src/runtime/store/journal-ends.ts";
import { tempFolder } from "../../support/temp-folder.ts";

// test/architecture.test.ts checks that all other readers use the same function.
test.each<[name: string, file: string, read: (folder: string, file: string) => unknown]>([
  ["a recording", "x.json", (_, file) => readCassette(file)],
  ["tokens of a server", "x", (_, file) => tokensIn(file)],
  ["learned rules", "rules.json", (folder) => openKeptRules(folder).read("/p")],
  ["a lock", "lock", (_, file) => alone(file, async () => {}, AbortSignal.timeout(200))],
  ["the record of a command", "x.json", (_, file) => readCommandRecord(file)],
  ["the script of a model", "x.json", (folder) => createScriptReader(folder)("x.json")],
  ["settings that are edited", "config.yaml", (_, file) => readConfigFile(file)],
  ["granted trust", "trust.json", (_, file) => openTrust(file).granted("/p")],
  ["the folder of the runs", "runs", (folder) => openResults(folder)("k")],
  ["a journal that is opened", "journal.jsonl", (folder) => openJournal(folder, { kept: () => {}, lost: () => {} })],
  ["the first record", "journal.jsonl", (folder) => firstEvent(folder)],
  ["the last record", "journal.jsonl", (folder) => lastEvent(folder)],
  ["input of a command", "plan.json", (_, file) => readText(file)],
  ["the claim of a run", "owner.1.json", (folder) => ownerOf(folder)],
])("a pipe in place of %s blocks nothing", async (_, name, read) => {
  const folder = tempFolder();
  execFileSync("mkfifo", [join(folder, name)]);
  await Promise.resolve()
    .then(() => read(folder, join(folder, name)))
    .catch(() => {});
});

test("a pipe in place of the request of a run does not block a command", async () => {
  const store = createFolderStore(tempFolder());
  mkdirSync(store.place(RUN), { recursive: true });
  execFileSync("mkfifo", [join(store.place(RUN), "request.json")]);
  await expect(readRequest(store, RUN)).rejects.toMatchObject({ code: "UNKNOWN_RUN" });
});

const RUN = "run_aaaaaaaaaaaa";
