import { hash } from "node:crypto";
import type { ImageContent } from "../../core/model/images.ts";
import type { Node, Plan } from "../../core/plan/plan.ts";
import type { Task } from "../../core/plan/task.ts";
import type { RunStore } from "../../core/run/run-store.ts";
import { CrewError } from "../../core/schema/error.ts";
import { IMAGE_PREFIX, type AttachedImage } from "../../core/vocabulary/image.ts";

type Outputs = Pick<RunStore, "keep" | "output">;

/**
 * Moves the images of a plan out of the plan, beside the records of the run: an event with megabytes of base64 would
 * slow down every reader.
 */
export async function keepImages(store: Outputs, run: string, plan: Plan): Promise<Plan> {
  return hasImages(plan.nodes) ? { ...plan, nodes: await keptNodes(store, run, plan.nodes) } : plan;
}

/** The images of a task with their contents. */
export async function readImages(store: Outputs, run: string, images: Task["images"] = []): Promise<ImageContent[]> {
  return Promise.all(
    images.map(async ({ name, type, data, kept }) => {
      const stored = (await store.output(run, kept ?? "").catch(() => undefined))?.trimEnd();
      const content = data ?? (stored !== undefined && imageName(stored) === kept ? stored : undefined);
      if (content === undefined)
        throw new CrewError(
          "RUN_DAMAGED",
          `The image "${name}" of ${run} is missing.`,
          "Start a new task, and attach the image again.",
        );
      return { name, type, data: content };
    }),
  );
}

type Nodes = Plan["nodes"];

const hasImages = (nodes: Nodes): boolean =>
  Object.values(nodes).some((node) =>
    node.kind === "loop" ? hasImages(node.body.nodes) : node.kind === "task" && node.task.images !== undefined,
  );

async function keptNodes(store: Outputs, run: string, nodes: Nodes): Promise<Nodes> {
  const all = await Promise.all(
    Object.entries(nodes).map(async ([id, node]): Promise<[string, Node]> => {
      if (node.kind === "loop")
        return [id, { ...node, body: { ...node.body, nodes: await keptNodes(store, run, node.body.nodes) } }];
      if (node.kind !== "task" || !node.task.images) return [id, node];
      const images = await Promise.all(node.task.images.map((image) => keepImage(store, run, image)));
      return [id, { ...node, task: { ...node.task, images } }];
    }),
  );
  return Object.fromEntries(all);
}

/** Stores an image beside the records of a run; the same content is stored once. */
async function keepImage(store: Outputs, run: string, image: AttachedImage): Promise<AttachedImage> {
  const { name, type, data } = image;
  if (data === undefined) return image;
  const kept = imageName(data);
  await store.keep(run, kept, data);
  return { name, type, kept };
}

/** The name under which an image is stored: the hash of its content, which readers check. */
const imageName = (data: string): string => `${IMAGE_PREFIX}${hash("sha256", data, "hex")}`;
