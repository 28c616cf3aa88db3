import { isCrewError } from "../core/schema/error.ts";
import { ROOT, runUri } from "./result/resource-uri.ts";
import type { ProtocolServer, Sdk } from "./sdk.ts";
import type { ServerContext } from "./server-context.ts";
import type { RunView } from "./result/view.ts";

/** Handles the requests of MCP clients about resources. */
export function serveResources(server: ProtocolServer, sdk: Sdk, context: ServerContext): void {
  server.setRequestHandler("resources/list", async () => ({ resources: [...(await listResources(context))] }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [...resourceTemplates] }));
  server.setRequestHandler("resources/read", async ({ params }) => {
    const found = await readResource(params.uri, context);
    if (!found) throw new sdk.ResourceNotFoundError(params.uri);
    return { contents: [found] };
  });
}

/** A run, or the output of one of its tasks, as an MCP client lists it. */
type ListedResource = Readonly<{
  uri: string;
  name: string;
  description: string;
  mimeType: string;
  size?: number;
}>;

const JSON_TYPE = "application/json";
const TEXT_TYPE = "text/markdown";

/** Maximum number of runs in a list; every run can be read by its id. */
const MOST_RUNS = 100;

/** The runs that a client may see, newest first, and the outputs of their tasks. */
async function listResources(context: Pick<ServerContext, "list">): Promise<readonly ListedResource[]> {
  const runs = (await context.list()).slice(0, MOST_RUNS);
  const index: ListedResource = {
    uri: ROOT,
    name: "runs",
    description: "Every run that this server shows, with its status.",
    mimeType: JSON_TYPE,
  };
  return [index, ...runs.flatMap(ofRun)];
}

function ofRun({ run, name = run, status, output, tasks }: RunView): readonly ListedResource[] {
  const uri = runUri(run);
  const what = `${status}; ${tasks.map(({ agent, path }) => agent ?? path).join(", ")}`;
  return [
    { uri, name, description: `The run ${run}: ${what}.`, mimeType: JSON_TYPE },
    ...(output === undefined
      ? []
      : [
          {
            uri: `${uri}/output`,
            name: `${name} output`,
            description: `The output of the run ${run}.`,
            mimeType: TEXT_TYPE,
            size: Buffer.byteLength(output),
          },
        ]),
  ];
}

/** The URI templates of resources that a list does not enumerate. */
const resourceTemplates: readonly Readonly<Record<"uriTemplate" | "name" | "description" | "mimeType", string>>[] = [
  { uriTemplate: `${ROOT}/{run}`, name: "run", description: "A run as JSON, by its id or name.", mimeType: JSON_TYPE },
  {
    uriTemplate: `${ROOT}/{run}/output`,
    name: "output",
    description: "The output of a run.",
    mimeType: TEXT_TYPE,
  },
  {
    uriTemplate: `${ROOT}/{run}/tasks/{+path}`,
    name: "task output",
    description: "The output of one task of a run, by its path.",
    mimeType: TEXT_TYPE,
  },
];

type ReadResource = Readonly<{ uri: string; mimeType: string; text: string }>;

/** The content of a URI; `undefined` when it does not exist or this client may not see it. */
async function readResource(
  uri: string,
  context: Pick<ServerContext, "list" | "look">,
): Promise<ReadResource | undefined> {
  if (uri === ROOT)
    return { uri, mimeType: JSON_TYPE, text: JSON.stringify((await context.list()).map(inList), null, 2) };
  const match = /^subcrew:\/\/runs\/([^/]+)(?:\/(output)|\/tasks\/(.+))?$/.exec(uri);
  const [word, path] = [decoded(match?.[1]), decoded(match?.[3])];
  if (word === undefined) return undefined;
  const view = await context.look(word).catch((error: unknown) => {
    if (isCrewError(error)) return undefined;
    throw error;
  });
  if (!view) return undefined;
  if (match?.[2] === undefined && path === undefined)
    return { uri, mimeType: JSON_TYPE, text: JSON.stringify(view, null, 2) };
  const text = path === undefined ? view.output : taskOutput(view, path);
  return text === undefined ? undefined : { uri, mimeType: TEXT_TYPE, text };
}

const inList = ({ run, name, status }: RunView): Pick<RunView, "run" | "name" | "status"> & { uri: string } => ({
  run,
  ...(name !== undefined && { name }),
  status,
  uri: runUri(run),
});

/** The output of a task. A run with a single task has the same output as that task. */
function taskOutput({ tasks, output }: RunView, path: string): string | undefined {
  const task = tasks.find((each) => each.path === path);
  return task && (task.output ?? (tasks.length === 1 ? output : undefined));
}

function decoded(part: string | undefined): string | undefined {
  if (part === undefined) return undefined;
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
