// @ts-check
import { writeFileSync } from "node:fs";

/**
 * A vitest reporter that records each skipped test with the reason it gave to `ctx.skip(reason)`; the JSON report has
 * no place for it.
 */
export default class Skips {
  /** @param {ReadonlyArray<import("vitest/node").TestModule>} modules */
  onTestRunEnd(modules) {
    const skips = [];
    for (const module of modules) {
      for (const test of module.children.allTests("skipped")) {
        const { note } = /** @type {{ note?: string }} */ (test.result());
        skips.push({ test: `${module.relativeModuleId} › ${test.fullName}`, reason: note ?? "no reason given" });
      }
    }
    const target = process.env["SUBCREW_TEST_SKIPS"];
    if (target !== undefined) writeFileSync(target, JSON.stringify(skips));
  }
}
