import type { Runner } from "../core/task/runner.ts";
import { loop } from "../runtime/loop/loop.ts";

/** Carries out a task in this process. */
export const local: Runner = loop;
