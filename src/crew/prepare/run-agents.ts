import type { Roster } from "../../core/delegation/roster.ts";
import { checkAgents, checkForks } from "../../core/plan/check.ts";
import type { Body, Plan } from "../../core/plan/plan.ts";
import { skillNotes } from "../../core/plan/preload-skills.ts";
import { shadowNotes, withNotes } from "../../runtime/discovery/shadow-notes.ts";
import type { Start } from "../../runtime/features/start.ts";
import { carriedAgents, carryAgents, resumedRoster } from "../../runtime/resume/carried-agents.ts";
import { openPreviousRuns, type PreviousRuns } from "../../runtime/resume/previous-runs.ts";
import { isOwnTool, knowAgents, toolNotes } from "./known-agents.ts";
import type { AskedRun, PrepareParts } from "./asked-run.ts";

/** The agents of one run: those that this process finds, and those that the run carries. */
export type AgentsOfRun = Readonly<{
  /** The plan with notes about its agents. */
  plan: Plan;
  roster: Roster;
  earlier: PreviousRuns;
  /** Throws for a plan whose agents do not exist. */
  check(wanted: Body): void;
  /** The same for tasks that a person adds: there is no conversation to fork. */
  checkAdded(wanted: Body): void;
  /** Stores the agents of a plan with the run. */
  carry(body: Pick<Body, "nodes">): ReturnType<typeof carryAgents>;
}> &
  Required<Pick<Start, "agents">> &
  Pick<Start, "missingAgent">;

/** Finds the agents of a run, and checks those of a new one; a resumed run only parks tasks whose agent is missing. */
export async function findRunAgents(
  { run, plan: asked, options, recorded }: AskedRun,
  refresh: boolean,
  { options: crew, outfit: { store, redactor }, finds }: PrepareParts,
): Promise<AgentsOfRun> {
  const past = recorded?.records.events ?? [];
  const given = crew.agents ?? [];
  const { discovery, skills, again, roster: known } = await knowAgents(given, finds);
  const carried = await carriedAgents(past, { store, roster: known, redactor });
  const earlier = openPreviousRuns(past, { store, refresh, continued: options.continued, carried });
  const named = (name: string) => earlier.agents.named(name)?.definition;
  const resumed = recorded && resumedRoster(known, { carried, named });
  const roster = resumed ?? known;
  const plan = withNotes(asked, [
    ...shadowNotes(asked, discovery),
    ...skillNotes(asked, roster, skills),
    ...toolNotes(asked, given, isOwnTool(crew.tools)),
  ]);
  const check = (wanted: Body): void =>
    checkAgents(wanted, (name) => (roster.find(name) ?? earlier.agents.named(name)) !== undefined, roster.names);
  if (!recorded) {
    check(plan);
    if (!options.parent) checkForks(plan);
  }
  return {
    plan,
    roster,
    earlier,
    check,
    checkAdded: (wanted) => {
      check(wanted);
      checkForks(wanted);
    },
    carry: (body) => carryAgents(body, { store, run, roster, redactor }),
    agents: resumed ? async () => resumed.completed(await again()) : again,
    ...(resumed && { missingAgent: resumed.missing }),
  };
}
