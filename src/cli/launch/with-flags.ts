import { parsePlan } from "../../core/plan/check.ts";
import type { AnyInput } from "../../core/plan/input.ts";
import type { Node, Plan } from "../../core/plan/plan.ts";
import { CrewError } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import { isRecord } from "../../core/text/json.ts";
import { type Mode, modeOf } from "../../modes/compile.ts";
import type { Flags } from "../base/flags.ts";
import { modelName, type RunFlags, type RunSettings, runIn, settingsIn } from "./settings.ts";

/**
 * Merges the flags into an input. A flag overrides the input's settings for all tasks; settings of a single task are
 * kept.
 */
export async function withFlags(input: AnyInput, flags: Flags): Promise<AnyInput> {
  const given: Given = {
    settings: settingsIn(flags),
    run: await runIn(flags),
    schema: await schemaIn(flags.schema, "--schema"),
    accept: await schemaIn(flags.acceptSchema, "--accept-schema"),
    flags,
  };
  const mode = modeOf(input);
  if (given.schema && (mode === "team" || mode === "plan")) {
    throw new CrewError(
      "BAD_INPUT",
      `--schema cannot be used for a ${mode}.`,
      "Set `schema` at a task in the file instead.",
    );
  }
  return { ...(places[mode] ?? beside)(input, given), mode };
}

type Given = Readonly<{ settings: RunFlags; run: RunSettings; schema: unknown; accept: unknown; flags: Flags }>;

type Place = (input: AnyInput, given: Given) => Readonly<Record<string, unknown>>;

/** Merges flags into the settings for all tasks. */
const beside: Place = (input, { settings, run, schema }) => ({
  ...input,
  ...over(input, settings),
  ...run,
  ...defined({ schema }),
});

/** Where modes that do not have these settings beside the tasks have them. */
const places: Readonly<Partial<Record<Mode, Place>>> = {
  chain: (input, { settings, run, schema }) => ({
    ...input,
    ...over(input, settings),
    ...run,
    chain: onLast(input["chain"], defined({ schema })),
  }),
  race: (input, { settings, run, schema, accept, flags: { agents, models, acceptCmd } }) => {
    const race = isRecord(input["race"]) ? input["race"] : {};
    return {
      ...input,
      ...run,
      race: {
        ...race,
        ...over(race, settings),
        ...defined({ schema, acceptSchema: accept, acceptCommand: acceptCmd, agents, models: models?.map(modelName) }),
      },
    };
  },
  team: (input, { settings, run, flags: { reviewExhausted } }) => {
    const more = defined({ maxConcurrency: run.maxConcurrency, reviewExhausted });
    const team = isRecord(input["team"]) ? { team: { ...input["team"], ...more } } : {};
    return { ...input, ...over(input, settings), ...run, ...team };
  },
  plan: (input, given) => ({ plan: planWith(parsePlan(input["plan"]), given) }),
};

/**
 * Merges the limits in flags into an input. Limits are merged one by one, so that a flag for one limit keeps the other
 * limits.
 */
function over(input: Readonly<Record<string, unknown>>, settings: RunFlags): Readonly<Record<string, unknown>> {
  const before = input["resourceLimits"];
  return settings.resourceLimits && isRecord(before)
    ? { ...settings, resourceLimits: { ...before, ...settings.resourceLimits } }
    : settings;
}

function onLast(list: unknown, more: object): unknown {
  if (!Array.isArray(list) || Object.keys(more).length === 0) return list;
  return list.map((item: unknown, index) =>
    index === list.length - 1 && isRecord(item) ? { ...item, ...more } : item,
  );
}

/**
 * Merges flags into a plan. A plan has settings per task only, so a flag applies to tasks that do not set the value.
 */
function planWith(plan: Plan, { settings, run }: Given): Plan {
  const { name, maxConcurrency, ...context } = run;
  return {
    ...plan,
    nodes: nodesWith(plan.nodes, settings),
    ...defined({ name, concurrency: maxConcurrency }),
    ...(Object.keys(context).length > 0 && { context: { ...plan.context, ...context } }),
  };
}

function nodesWith(nodes: Readonly<Record<string, Node>>, settings: RunFlags): Record<string, Node> {
  return Object.fromEntries(
    Object.entries(nodes).map(([id, node]): [string, Node] => {
      if (node.kind === "task")
        return [
          id,
          {
            ...node,
            task: {
              ...settings,
              ...node.task,
              ...over(settings, { ...defined({ resourceLimits: node.task.resourceLimits }) }),
            },
          },
        ];
      if (node.kind === "loop")
        return [id, { ...node, body: { ...node.body, nodes: nodesWith(node.body.nodes, settings) } }];
      return [id, node];
    }),
  );
}

async function schemaIn(file: string | undefined, flag: string): Promise<unknown> {
  return file === undefined ? undefined : (await import("./read-schema.ts")).readSchema(file, flag);
}
