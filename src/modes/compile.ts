import { z } from "zod";
import type { AnyInput } from "../core/plan/input.ts";
import { checkPlan, readPlan, suggestion } from "../core/plan/check.ts";
import type { Plan } from "../core/plan/plan.ts";
import { CrewError } from "../core/schema/error.ts";
import { parseAs } from "../core/schema/parse.ts";
import { withPlainSchemas } from "../core/schema/standard-schema.ts";
import { isRecord } from "../core/text/json.ts";
import { chain, chainInput } from "./chain.ts";
import { parallel, parallelInput } from "./parallel.ts";
import { race, raceInput } from "./race.ts";
import { STAYS } from "./references.ts";
import { single, singleInput } from "./single.ts";
import { team, teamInput } from "./team.ts";

const planInput = z.strictObject({ mode: z.literal("plan"), plan: z.unknown() });

/**
 * Every mode: its input schema, the key that identifies it in an input without `mode`, its compiler, and the words for
 * a person who chooses a mode.
 */
const modes = {
  single: { input: singleInput, key: "task", compile: single, what: "One agent, one task." },
  parallel: {
    input: parallelInput,
    key: "tasks",
    compile: parallel,
    what: "Several tasks in parallel. A failed task does not stop the others.",
  },
  chain: {
    input: chainInput,
    key: "chain",
    compile: chain,
    what: "One task after the other, each with the result of the task before.",
  },
  race: {
    input: raceInput,
    key: "race",
    compile: race,
    what: "The same task for several agents or models. The first good answer wins.",
  },
  team: {
    input: teamInput,
    key: "team",
    compile: team,
    what: "Members with roles, tasks that depend on each other, reviews and approvals.",
  },
  plan: {
    input: planInput,
    key: "plan",
    compile: ({ plan }: z.infer<typeof planInput>) => readPlan(plan),
    what: "A plan, node by node.",
  },
} as const;

export type Mode = keyof typeof modes;
export type Input = { [M in Mode]: z.infer<(typeof modes)[M]["input"]> }[Mode];
/** Passes on an unchecked value as an input; `compile` checks it. */
export const unchecked = (input: AnyInput | Plan): Input | Plan => input as Input | Plan;

export const modeNames: readonly Mode[] = Object.keys(modes) as Mode[];

/** What a mode does, for a person who chooses one. */
export const modeWords = (mode: Mode): string => modes[mode].what;

/** The input schema of a mode, for interfaces that have to describe it, such as the MCP server. */
export function inputOf(mode: Exclude<Mode, "plan">): z.ZodObject {
  return modes[mode].input;
}

/**
 * Compiles any input to a checked plan. `strict` turns warnings into errors; with `references: serial`, tasks that
 * refer to each other run one at a time, as pi-parallel-agents does.
 */
export function compile(
  value: unknown,
  { strict = false, references = "parallel" }: { strict?: boolean; references?: "parallel" | "serial" } = {},
): Plan {
  const compiled = toPlan(withPlainSchemas(value));
  const plan = references === "serial" && hasReferences(compiled) ? { ...compiled, concurrency: 1 } : compiled;
  const note = plan.notes?.[0];
  if (strict && note !== undefined)
    throw new CrewError(
      "PLAN_UNKNOWN_REFERENCE",
      note.replace(STAYS, "."),
      "Correct the placeholder, or run without --strict.",
    );
  checkPlan(plan);
  return plan;
}

const hasReferences = ({ nodes }: Plan): boolean =>
  Object.values(nodes).some((node) => node.kind === "task" && Object.keys(node.task.refs ?? {}).length > 0);

function toPlan(value: unknown): Plan {
  if (isBarePlan(value)) return readPlan(value);
  const mode = modeOf(value);
  const { input, compile: compiler } = modes[mode];
  const parsed = parseAs(
    input as z.ZodType<Input>,
    { ...(value as object), mode },
    { code: "BAD_INPUT", what: `${mode} input` },
  );
  return (compiler as (input: Input) => Plan)(parsed);
}

/** True for a bare plan, without a `mode` around it. */
export function isBarePlan(value: unknown): boolean {
  return isRecord(value) && "nodes" in value && !("mode" in value);
}

/**
 * The mode of an input: the mode that the input names, or the mode whose key the input has. Several matching modes are
 * an error.
 */
export function modeOf(value: unknown): Mode {
  if (isBarePlan(value)) return "plan";
  if (!isRecord(value))
    throw new CrewError(
      "BAD_INPUT",
      "The input is not an object.",
      `Give an object with one of: ${modeNames.map((name) => modes[name].key).join(", ")}.`,
    );
  const named = value["mode"];
  if (named !== undefined) {
    const name = typeof named === "string" ? named : JSON.stringify(named);
    if (typeof named === "string" && Object.hasOwn(modes, named)) return named as Mode;
    throw new CrewError("BAD_INPUT", `Unknown mode "${name}".`, suggestion(name, modeNames, "Known modes"));
  }
  const given = modeNames.filter((name) => value[modes[name].key] !== undefined);
  const only = given[0];
  if (only !== undefined && given.length === 1) return only;
  const found =
    given.length === 0
      ? "names no mode"
      : `names ${given.length} modes (${given.map((name) => modes[name].key).join(", ")})`;
  throw new CrewError(
    "BAD_INPUT",
    `The input ${found}.`,
    `Give exactly one of: ${modeNames.map((name) => modes[name].key).join(", ")}.`,
  );
}
