import type { Dialects } from "../core/dialect.ts";
import { own } from "./own.ts";

/** Every way of writing agents down. A new dialect is one file and one row. */
export const dialects: Dialects = { own };
