import { createHash } from "node:crypto";
import type { Announcement } from "../core/task/placement.ts";

/** Workers with equal announcements form one class and share a queue. */
export const workerClassOf = (announcement: Announcement): string =>
  createHash("sha256").update(JSON.stringify(announcement)).digest("hex").slice(0, 16);
