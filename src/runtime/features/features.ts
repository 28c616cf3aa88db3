import type { Feature } from "./feature.ts";
import { budgetFeature } from "./budget.ts";
import { cleanupFeature } from "./cleanup.ts";
import { fileLeasesFeature } from "./file-leases.ts";
import { inboxFeature } from "./inbox.ts";
import { messagesFeature } from "./messages.ts";
import { nestedRunsFeature } from "./nested-runs.ts";
import { parentRunFeature } from "./parent-run.ts";
import { partialTextFeature } from "./partial-text.ts";
import { pauseFeature } from "./pause.ts";
import { redactionFeature } from "./redaction.ts";
import { reusedResultsFeature } from "./reused-results.ts";
import { spendingCapsFeature } from "./spending-caps.ts";
import { tapeFeature } from "./tape.ts";
import { tasksFeature } from "./tasks.ts";
import { timeLimitFeature } from "./time-limit.ts";
import { worktreesFeature } from "./worktrees.ts";

/**
 * Everything that a run does beside executing its plan and recording it. The order is law: what a task emits passes the
 * rows from the first to the last, and a limit of an earlier row applies on top of those of later rows.
 */
export const runFeatures: readonly Feature[] = [
  inboxFeature,
  redactionFeature,
  tasksFeature,
  pauseFeature,
  partialTextFeature,
  timeLimitFeature,
  spendingCapsFeature,
  nestedRunsFeature,
  parentRunFeature,
  budgetFeature,
  fileLeasesFeature,
  messagesFeature,
  tapeFeature,
  reusedResultsFeature,
  worktreesFeature,
  cleanupFeature,
];
