import { expect, test } from "vitest";
import { tempFolder } from "../support/temp-folder.ts";
import { cycles } from "./cycles.ts";

test.skipIf(process.platform !== "linux")(
  "fifty runs that end, are cancelled or killed leave no process, zombie or descriptor",
  async () => {
    expect(await cycles(50, tempFolder())).toEqual({ orphans: 0, zombies: 0, descriptors: 0 });
  },
);
