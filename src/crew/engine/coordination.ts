import type { Connection } from "../../engines/connect.ts";
import type { Coordination } from "../../engines/distributed.ts";

const known = new WeakMap<Connection, Coordination>();

/**
 * Opens the coordinator (it executes plans whose tasks run on workers) for this process; one per connection to the
 * engine.
 */
export async function coordinationFor(connect: () => Promise<Connection>): Promise<Coordination> {
  const connection = await connect();
  const made = known.get(connection);
  if (made) return made;
  const [{ coordinate }, { dbosQueue }] = await Promise.all([
    import("../../engines/distributed.ts"),
    import("../../engines/dbos/queue.ts"),
  ]);
  const coordination = known.get(connection) ?? coordinate(connection, dbosQueue(connection.database));
  known.set(connection, coordination);
  return coordination;
}
