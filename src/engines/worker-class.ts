import { createHash } from "node:crypto";
import type { Announcement } from "../core/task/placement.ts";

/** The name of a class of workers: workers with equal announcements (capabilities) form one class and share a queue. */
export const workerClassOf = (announcement: Announcement): string =>
  createHash("sha256").update(JSON.stringify(announcement)).digest("hex").slice(0, 16);
