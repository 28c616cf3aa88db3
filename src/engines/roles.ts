import { createHash } from "node:crypto";
import { messageOf } from "../core/schema/error.ts";
import type { Database, RunStatement } from "./postgres/database.ts";

/**
 * A database role for each kind of process. Roles cannot log in: an administrator creates logins and adds them to a
 * role, so that no password passes through subcrew.
 */
export const ENGINE_ROLES = {
  coordinator: "subcrew_coordinator",
  worker: "subcrew_worker",
  reader: "subcrew_reader",
} as const;

/** The rights of a role on a table, and the rows they apply to. */
type TableRights = Readonly<{ rights: string; rows?: Readonly<Partial<Record<RowAction, string>>> }>;
type RowAction = "select" | "insert" | "update" | "delete";

/** SQL for the ids of the processes that this database login started. */
const OWN = "select p.id from subcrew.processes p where p.login = current_user";
const DEAD = "beat < clock_timestamp() - interval '10 seconds'";
/** SQL condition: a worker of this database login has a task of the run that the row belongs to. */
const OWN_RUN = `run in (select c.run from subcrew.calls c where c.worker in (${OWN}))`;
/** SQL for the path of the task of a call `c`, whose key is `RUN/PATH#ATTEMPT`, and for the number of its attempt. */
const PATH =
  "substring(c.call from length(c.run) + 2 for length(c.call) - length(c.run) - 1 - position('#' in reverse(c.call)))";
const ATTEMPT = "substring(c.call from '#([0-9]+)$')";
/**
 * SQL condition: an output is a text that a worker of this login stores for a task that it has: the patch, progress or
 * files of the attempt, or a long result of a tool.
 */
const OWN_OUTPUT = `exists (select from subcrew.calls c where c.run = outputs.run and c.worker in (${OWN}) and (
    (outputs.kind in ('patch', 'progress', 'files')
      and outputs.path = ${PATH} || case when ${ATTEMPT} in ('0', '1') then '' else '.' || ${ATTEMPT} end)
    or (outputs.kind = 'output' and starts_with(outputs.path, ${PATH} || '.'))))`;
/** SQL condition: a time is not later than the database's clock, so that it cannot stay valid for ever. */
const notAhead = (column: string): string => `${column} <= clock_timestamp() + interval '5 seconds'`;
/**
 * SQL condition: a row of `processes` belongs to this login and owns no run, because a row of an owner keeps its run
 * alive.
 */
const OWN_PROCESS = `login = current_user and ${notAhead("beat")} and id <> 'handed over'
  and not exists (select from subcrew.runs r where r.owner = processes.id)`;
/** SQL condition: a row of `model_requests` belongs to a process of this login, and frees no quota. */
const OWN_REQUEST = `process in (${OWN}) and tokens >= 0 and ${notAhead("began")}`;

/**
 * The rights of workers. They cannot create a task, change its content, write events or act for a worker with another
 * login. They have no access to other tables.
 */
const WORKER: Readonly<Record<string, TableRights>> = {
  migrations: { rights: "select" },
  processes: {
    rights: "select, insert, update, delete",
    rows: { insert: OWN_PROCESS, update: OWN_PROCESS, delete: `login = current_user or ${DEAD}` },
  },
  runs: { rights: "select" },
  events: { rights: "select" },
  results: { rights: "select, insert", rows: { insert: OWN_RUN } },
  artifacts: { rights: "select, insert, update (created)" },
  outputs: {
    rights: "select, insert, update (hash)",
    rows: { insert: OWN_OUTPUT, update: OWN_OUTPUT },
  },
  quota: { rights: "select, update (name)", rows: { update: "true) with check (false" } }, // a worker locks these rows but changes none
  model_requests: {
    rights: "select, insert, update, delete",
    rows: {
      insert: OWN_REQUEST,
      update: OWN_REQUEST,
      delete: `process in (${OWN}) or began < clock_timestamp() - interval '60 seconds'`,
    },
  },
  holds: { rights: "select, insert, update, delete" },
  probes: { rights: "select, insert, update, delete" },
  calls: {
    rights: "select, update (state, worker, changed, job, waits)", // a trigger (`KEEP_JOB`) only lets a worker empty the job
    // Only calls that no other worker has; a call that no worker has can only be taken or given back.
    rows: {
      update: `class in (select p.class from subcrew.processes p where p.login = current_user)
        and (worker is null or worker in (${OWN})))
        with check (worker in (${OWN}) or (worker is null and state in ('placed', 'returned'))`,
    },
  },
  facts: {
    rights: "select, insert",
    rows: {
      insert: `exists (select from subcrew.calls c where c.call = facts.call and c.epoch = facts.epoch and c.worker in (${OWN}))`,
    },
  },
  mail: {
    rights: "select",
    rows: { select: `exists (select from subcrew.calls c where c.call = mail.call and c.worker in (${OWN}))` },
  },
};

/** Whether roles and rights were changed, or the reason why they were skipped. */
export type GrantedRoles = Readonly<{ granted: boolean }> | Readonly<{ skipped: string }>;

/** Creates the roles and their rights, unless they are up to date. Owners of the tables are not restricted. */
export async function grantRoles(database: Database): Promise<GrantedRoles> {
  try {
    return await database.transaction(async (query) => {
      await query("set local lock_timeout = '5s'");
      const tables = await tablesIn(query, "subcrew");
      const statements = [...rolesOf(), ...tables.flatMap(rightsOf), ...KEEP_JOB, ...(await queueRights(query))];
      const mark = `rights ${createHash("sha256").update(statements.join(";")).digest("hex").slice(0, 16)}`;
      const [known] = await query<{ mark: string | null }>(
        "select obj_description('subcrew'::regnamespace, 'pg_namespace') as mark",
      );
      if (known?.mark === mark) return { granted: false };
      for (const statement of statements) await query(statement);
      await query(`comment on schema subcrew is '${mark}'`);
      return { granted: true };
    });
  } catch (error) {
    return { skipped: messageOf(error) };
  }
}

async function tablesIn(query: RunStatement, schema: string): Promise<readonly string[]> {
  const rows = await query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = $1 order by tablename",
    [schema],
  );
  return rows.map(({ name }) => name);
}

function rolesOf(): string[] {
  const all = Object.values(ENGINE_ROLES);
  return [
    ...all.map(
      (role) => `do $$ begin
        if not exists (select from pg_roles where rolname = '${role}') then create role ${role} nologin; end if;
      end $$`,
    ),
    "revoke all on schema subcrew from public",
    `grant usage on schema subcrew to ${all.join(", ")}`,
  ];
}

function rightsOf(table: string): string[] {
  const name = `subcrew.${table}`;
  const { coordinator, worker, reader } = ENGINE_ROLES;
  const own = WORKER[table];
  return [
    `alter table ${name} enable row level security`,
    `revoke all on ${name} from public, ${coordinator}, ${worker}, ${reader}`,
    `grant select on ${name} to ${reader}`,
    `grant select, insert, update, delete on ${name} to ${coordinator}`,
    ...(own ? [`grant ${own.rights} on ${name} to ${worker}`] : []),
    ...policy(name, coordinator, "all", "true"),
    ...policy(name, reader, "select", "true"),
    ...ACTIONS.flatMap((action) =>
      own && new RegExp(`\\b${action}\\b`).test(own.rights)
        ? policy(name, worker, action, own.rows?.[action] ?? "true")
        : [`drop policy if exists ${worker}_${action} on ${name}`],
    ),
  ];
}

const ACTIONS: readonly RowAction[] = ["select", "insert", "update", "delete"];

function policy(table: string, role: string, action: RowAction | "all", rows: string): string[] {
  const name = `${role}_${action}`;
  const condition =
    action === "insert"
      ? `with check (${rows})`
      : action === "all" || action === "update"
        ? `using (${rows})${rows.includes("with check") ? "" : ` with check (${rows})`}`
        : `using (${rows})`;
  return [
    `drop policy if exists ${name} on ${table}`,
    `create policy ${name} on ${table} for ${action} to ${role} ${condition}`,
  ];
}

/** SQL of a trigger: a worker may empty the job of a task that it ends, but may not replace the job. */
const KEEP_JOB = [
  `create or replace function subcrew.keep_job() returns trigger language plpgsql as $$
   begin
     if new.job is not null and new.job::text is distinct from old.job::text
        and not pg_has_role(current_user, '${ENGINE_ROLES.coordinator}', 'member')
        and pg_has_role(current_user, '${ENGINE_ROLES.worker}', 'member') then
       raise insufficient_privilege using message = 'a worker cannot change the job of a call';
     end if;
     return new;
   end $$`,
  "drop trigger if exists keep_job on subcrew.calls",
  "create trigger keep_job before update of job on subcrew.calls for each row execute function subcrew.keep_job()",
];

/**
 * The rights on the tables of the queue, for processes that add or take tasks. A task taken from the queue is executed
 * only if its row in subcrew's own table says so.
 */
async function queueRights(query: RunStatement): Promise<string[]> {
  const [found] = await query<{ there: boolean }>("select to_regnamespace('dbos') is not null as there");
  if (!found?.there) return [];
  const both = `${ENGINE_ROLES.coordinator}, ${ENGINE_ROLES.worker}`;
  return [
    `grant usage on schema dbos to ${both}`,
    `grant select, insert, update, delete on all tables in schema dbos to ${both}`,
    `grant usage, select on all sequences in schema dbos to ${both}`,
    `grant execute on all functions in schema dbos to ${both}`,
  ];
}
