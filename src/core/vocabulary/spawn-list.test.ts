import { expect, test } from "vitest";
import { mayStart, namesOnly, simplerSpawns, spawnsText } from "./spawn-list.ts";

test.each<[list: string[], simpler: unknown, allowed: string[], text: string]>([
  [["*"], "*", ["scout", "test-a", "test-b"], "every agent"],
  [["*", "!scout"], ["*", "!scout"], ["test-a", "test-b"], "every agent but scout"],
  [["!scout", "*"], "*", ["scout", "test-a", "test-b"], "every agent"],
  [["*", "!test-*", "test-a"], ["*", "!test-*", "test-a"], ["scout", "test-a"], "*, !test-*, test-a"],
  [["!*", "test-*", "!test-b"], ["test-*", "!test-b"], ["test-a"], "test-*, !test-b"],
  [["scout", "!sage"], ["scout"], ["scout"], "scout"],
  [["*", "!*"], [], [], ""],
  [["!scout"], [], [], ""],
])(
  "the last matching entry of the spawn list %j decides whether an agent may be started",
  (list, simpler, allowed, text) => {
    const spawns = simplerSpawns(list);
    expect(spawns).toEqual(simpler);
    const names = ["scout", "test-a", "test-b"];
    expect(names.filter((name) => mayStart(name, spawns))).toEqual(allowed);
    expect(names.filter((name) => mayStart(name, simplerSpawns(list)) !== mayStart(name, list))).toEqual([]);
    expect(spawnsText(spawns)).toBe(text);
    if (spawns !== "*") expect(namesOnly(spawns).filter((name) => !mayStart(name, spawns))).toEqual([]);
  },
);
