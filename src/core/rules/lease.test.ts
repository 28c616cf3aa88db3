import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { globMatcher } from "./glob.ts";
import { globsMeet } from "./globs-overlap.ts";
import { covers, grantable, type LeaseWish, leaseAbove, wholeFolders } from "./lease.ts";

describe("two globs", () => {
  test.each<[string, string, boolean]>([
    ["src/**", "src/a/b.ts", true],
    ["src/**", "docs/**", false],
    ["src/**", "**/*.ts", true],
    ["src/*.ts", "src/*.md", false],
    ["src/*.ts", "src/a*", true],
    ["a/**/z", "a/b/**/c/z", true],
    ["a/**/z", "a/b/y", false],
    ["**", "anything/at/all", true],
    ["{docs,src}/x", "src/*", true],
    ["{docs,src}/x", "test/*", false],
    ["src/[ab].ts", "src/a.ts", true],
    ["src/[ab].ts", "src/c.ts", false],
    ["src/[a-c].ts", "src/[x-z].ts", true], // unclear cases count as overlapping
    ["SRC/a", "src/A", true],
    ["src/a?c", "src/abc", true],
    ["src/a?c", "src/ac", false],
  ])("%s and %s overlap: %s", (one, other, meet) => {
    expect([globsMeet(one, other), globsMeet(other, one)]).toEqual([meet, meet]);
  });

  test("that match the same path always overlap", () => {
    const name = fc.stringMatching(/^[ab*?]{1,4}$/);
    const glob = fc
      .array(fc.oneof(name, fc.constant("**")), { minLength: 1, maxLength: 4 })
      .map((all) => all.join("/"));
    const path = fc.array(fc.stringMatching(/^[ab]{1,3}$/), { minLength: 1, maxLength: 4 }).map((all) => all.join("/"));
    fc.assert(
      fc.property(glob, glob, path, (one, other, place) => {
        const both = [one, other].every((each) => globMatcher(`/${each}`)(place));
        return !both || globsMeet(one, other);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("leases", () => {
  const wish = (of: string, globs: string[], under?: string): LeaseWish => ({ of, globs, ...(under && { under }) });

  test("are relative to the workspace, and a folder includes everything in it", () => {
    const lease = { globs: ["src/api/", "CHANGELOG.md", "./docs/*.md"] };
    const places = ["src/api/a/b.ts", "CHANGELOG.md", "docs/x.md", "sub/CHANGELOG.md", "docs/a/x.md", "/etc/passwd"];
    expect(places.map((place) => covers(lease, place))).toEqual([true, true, true, false, false, false]);
  });

  test("list the folders they cover completely", () => {
    expect(wholeFolders({ globs: ["src/api/**", "docs/", "a/*/b", "x.md", "**"] })).toEqual(["src/api", "docs", ""]);
  });

  test("are granted to a task that overlaps with no holder and no earlier waiter", () => {
    const held = [wish("a", ["src/**"])];
    const waiting = [wish("b", ["docs/**", "src/x.ts"]), wish("c", ["docs/a.md"]), wish("d", ["test/**"])];
    expect(grantable(held, waiting).map(({ of }) => of)).toEqual(["d"]);
    expect(grantable([], waiting).map(({ of }) => of)).toEqual(["b", "d"]);
  });

  test("of helpers are compared only within the lease of their parent task", () => {
    const held = [wish("lead", ["src/**"])];
    expect(leaseAbove(held, "lead/scout")).toBe("lead");
    expect(leaseAbove(held, "lead.2/scout")).toBe("lead");
    expect(leaseAbove(held, "leader/scout")).toBeUndefined();
    expect(grantable(held, [wish("lead/scout", ["src/a"], "lead")])).toHaveLength(1);
  });

  /**
   * Simulates a tree of tasks with leases: a task whose lease is granted runs, starts its helpers, and ends when they
   * have ended.
   */
  test("never leave a task waiting for ever", () => {
    const globs = fc.array(fc.constantFrom("a/**", "a/b", "b/**", "**", "c"), { minLength: 1, maxLength: 2 });
    const task = fc.record({ globs, below: fc.array(globs, { maxLength: 3 }) });
    fc.assert(
      fc.property(fc.array(task, { minLength: 1, maxLength: 5 }), (tasks) => {
        const held = new Map<string, LeaseWish>();
        const open = new Map<string, number>();
        let waiting = tasks.map((each, at) => wish(`t${at}`, each.globs));
        for (let step = 0; waiting.length > 0 || held.size > 0; step++) {
          if (step > 100) return false;
          const begins = grantable([...held.values()], waiting);
          for (const granted of begins) {
            held.set(granted.of, granted);
            waiting = waiting.filter((each) => each !== granted);
            const below = granted.under === undefined ? tasks[Number(granted.of.slice(1))]!.below : [];
            open.set(granted.of, below.length);
            waiting.push(...below.map((each, at) => wish(`${granted.of}/${at}`, each, granted.of)));
          }
          const done = [...held.values()].find(({ of }) => open.get(of) === 0);
          if (!done && begins.length === 0) return false;
          if (!done) continue;
          held.delete(done.of);
          if (done.under !== undefined) open.set(done.under, open.get(done.under)! - 1);
        }
        return true;
      }),
      { numRuns: 500 },
    );
  });
});
