import { TaskState } from "@a2a-js/sdk";
import { expect, test } from "vitest";
import { message, ourServer, sdkClient, workerCrew } from "./lab.ts";

test("a client that waits for a result gets the reason at once when the run is parked", async () => {
  const refused = {
    error: {
      code: "MODEL_AUTH",
      message: "The key was refused.",
      hint: "Correct it.",
      retryable: false,
      retryAfterMs: 600_000,
    },
  } as const;
  const server = await ourServer(workerCrew([refused]));
  const client = await sdkClient(server.card(), server.token);
  const task = await client.sendMessage(message("6 x 7?"));
  if (!("status" in task)) throw new Error("no task");
  expect(task.status?.state).toBe(TaskState.TASK_STATE_WORKING);
  expect(JSON.stringify(task.status?.message)).toMatch(/parked: The key was refused\..*Correct it\./);
});
