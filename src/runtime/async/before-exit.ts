import { createPendingCleanup } from "./pending-cleanup.ts";

/** Work for which no run waits, such as hooks. A process of the command line waits for it before it exits. */
export const beforeExit = createPendingCleanup(10_000);
