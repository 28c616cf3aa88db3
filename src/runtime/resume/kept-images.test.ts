import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { Plan } from "../../core/plan/plan.ts";
import { artifactOf } from "../disk/artifact-of.ts";
import { keepImages, readImages } from "./kept-images.ts";

/** The files that a run stores beside its records. */
function outputs() {
  const texts = new Map<string, string>();
  return {
    texts,
    keep: async (_run: string, name: string, text: string) => {
      await Promise.resolve();
      texts.set(name, text);
      return artifactOf(text);
    },
    output: async (_run: string, name: string) => texts.get(name),
  };
}

const image = { name: "a.png", type: "image/png", data: "iVBO" } as const;
const task = (more: object = {}) => ({ kind: "task" as const, needs: ["ask"], task: { prompt: "Look.", ...more } });
const planOf = (nodes: object): Plan => ({ nodes, output: "last" }) as Plan;

test("images are stored beside the records, the same content once, and the plan keeps everything else", async () => {
  const store = outputs();
  const body = { nodes: { inner: task({ images: [image] }) }, output: "inner" };
  const nodes = {
    ask: { kind: "gate", question: "Go?" },
    first: task({ images: [image, { ...image, name: "b.png" }] }),
    plain: task(),
    again: { kind: "loop", body, max: 2 },
    last: { kind: "join", needs: ["first"] },
  };
  const plan = await keepImages(store, "run_a", planOf(nodes));
  const [kept] = store.texts.keys();
  expect([...store.texts]).toEqual([[expect.stringMatching(/^image-[0-9a-f]{64}$/), "iVBO"]]);
  const moved = (name: string) => ({ name, type: "image/png", kept });
  expect(plan).toEqual({
    output: "last",
    nodes: {
      ...nodes,
      first: task({ images: [moved("a.png"), moved("b.png")] }),
      again: { kind: "loop", max: 2, body: { output: "inner", nodes: { inner: task({ images: [moved("a.png")] }) } } },
    },
  });
  expect(await readImages(store, "run_a", [moved("a.png") as never])).toEqual([image]);
  expect(await keepImages(store, "run_a", plan)).toEqual(plan);
});

test("a plan without images is the same plan", async () => {
  const plan = planOf({ ask: { kind: "gate", question: "Go?" }, a: task(), b: { kind: "join", needs: ["a"] } });
  expect(await keepImages(outputs(), "run_a", plan)).toBe(plan);
  const inner = planOf({ again: { kind: "loop", body: { nodes: { a: task() }, output: "a" }, max: 2 } });
  expect(await keepImages(outputs(), "run_a", inner)).toBe(inner);
});

test("an image that cannot be stored, or is missing later, is an error", async () => {
  const full = { ...outputs(), keep: () => Promise.reject(new Error("no space left on device")) };
  await expect(keepImages(full, "run_a", planOf({ last: task({ images: [image] }) }))).rejects.toThrow("no space left");
  const gone = { name: "a.png", type: "image/png", kept: "image-x" } as const;
  const error = { code: "RUN_DAMAGED", message: 'The image "a.png" of run_a is missing.' };
  await expect(readImages(outputs(), "run_a", [gone])).rejects.toMatchObject(error);
  const broken = { ...outputs(), output: () => Promise.reject(new Error("damaged")) };
  await expect(readImages(broken, "run_a", [gone])).rejects.toMatchObject(error);
});

test("the contents of images have no line end, wherever they come from, and a task without images has none", async () => {
  const store = outputs();
  const name = `image-${createHash("sha256").update("iVBO").digest("hex")}`;
  store.texts.set(name, "iVBO\n");
  const kept = { name: "a.png", type: "image/png", kept: name } as const;
  expect(await readImages(store, "run_a", [kept, image])).toEqual([image, image]);
  store.texts.set(name, "forged\n");
  await expect(readImages(store, "run_a", [kept])).rejects.toMatchObject({ code: "RUN_DAMAGED" });
  expect(await readImages(store, "run_a", undefined)).toEqual([]);
});
