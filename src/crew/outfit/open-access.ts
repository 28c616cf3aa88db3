import { fileURLToPath } from "node:url";
import { withPermissions } from "../../core/policy/permissions.ts";
import type { RunStore } from "../../core/run/run-store.ts";
import type { Redactor } from "../../core/secrets/redact.ts";
import { type AccessParts, accessParts, demandSandbox } from "../../runtime/access/crew-access.ts";
import { openKeptRules } from "../../runtime/access/approved-rules.ts";
import { recorderFor } from "../../runtime/changes/recorder.ts";
import { childEntry } from "./child-entry.ts";
import { type CrewSetup, homeOf } from "./setup.ts";

/** The access rules of a crew. Throws if a required sandbox is not available. */
export async function openAccess(
  setup: CrewSetup,
  tools: readonly string[],
  { store, redact }: Readonly<{ store: RunStore; redact: Redactor["text"] }>,
): Promise<AccessParts> {
  const kept = setup.home === false ? undefined : openKeptRules(homeOf(setup));
  const agreed = (await kept?.read(setup.cwd)) ?? [];
  const parts = accessParts(
    agreed.length === 0 ? (setup.permissions ?? {}) : withPermissions({ allow: [...agreed] }, setup.permissions),
    {
      cwd: setup.cwd,
      home: setup.env["HOME"],
      state: homeOf(setup),
      kept: setup.home !== false,
      finisher: finisherFile(),
      env: setup.env,
      outputs: (run) => store.local(run, "outputs"),
      changes: (run, isClosed) => recorderFor(store, run, setup.env["HOME"], isClosed),
      redact,
    },
    tools,
  );
  await demandSandbox(parts);
  return { ...parts, session: [], ...(kept && { keep: (rules, scope) => kept.keep(rules, scope, setup.cwd) }) };
}

/**
 * The path of the built program that moves files to quarantine; `undefined` when only its TypeScript source exists,
 * which Node cannot run.
 */
function finisherFile(): string | undefined {
  const url = childEntry("quarantine-child");
  return url?.pathname.endsWith(".js") ? fileURLToPath(url) : undefined;
}
