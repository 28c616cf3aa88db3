import type { Runner } from "../core/runner.ts";
import { loop } from "../runtime/loop.ts";

/** Carries out a task in this process. */
export const local: Runner = loop;
