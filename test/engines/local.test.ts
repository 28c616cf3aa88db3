import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { localEngine } from "../../src/engines/local.ts";
import { openJournal } from "../../src/runtime/store/journal.ts";
import { engineSuite } from "./suite.ts";

engineSuite("the local engine", async () => {
  const folder = await mkdtemp(join(tmpdir(), "subcrew-engine-"));
  return {
    engine: (perform) => localEngine({ perform, journal: (run, listener) => openJournal(join(folder, run), listener) }),
    bury: (run) =>
      writeFile(join(folder, run, "owner.1.json"), JSON.stringify({ pid: process.pid, started: "1", boot: "another" })),
    close: () => rm(folder, { recursive: true }),
  };
});
