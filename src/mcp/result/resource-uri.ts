/** The resource that lists all runs. */
export const ROOT = "subcrew://runs";

/** The resource of a run. */
export const runUri = (run: string): string => `${ROOT}/${encodeURIComponent(run)}`;

/** The resource of the output of a task. */
export const taskUri = (run: string, path: string): string => `${runUri(run)}/tasks/${encodeURI(path)}`;
