/** One migration of the schema. Migrations are only added: a released migration never changes. */
export type Migration = Readonly<{
  name: string;
  sql: string;
  /** How many migrations a process must know to work with these tables; 0: any process can. */
  needs?: number;
}>;

/**
 * The migrations, in order. Each can be applied while workers of the previous version run: it adds tables, columns with
 * defaults and indexes, and removes nothing that the previous version uses.
 */
export const migrations: readonly Migration[] = [
  {
    name: "runs, events and processes",
    sql: `
      -- Every process that is connected: workers, and processes that coordinate runs. Only this clock decides who lives.
      create table processes (
        id text primary key,
        host text not null,
        pid integer not null,
        role text not null default 'coordinate',
        class text,
        announcement json,
        slots integer not null default 0,
        version text not null,
        protocol integer not null,
        started timestamptz not null default clock_timestamp(),
        beat timestamptz not null default clock_timestamp(),
        draining boolean not null default false
      );
      create table runs (
        run text primary key,
        owner text,
        sole boolean not null default false,
        epoch bigint not null default 0,
        starting text,
        claim uuid,
        changed timestamptz not null default clock_timestamp(),
        created timestamptz not null default clock_timestamp()
      ) with (fillfactor = 70);
      create index runs_changed on runs (changed desc);
      create index runs_owner on runs (owner) where owner is not null;
      -- "call" and "fact" say which fact of a worker an event was made of, so that no fact is recorded twice.
      create table events (
        run text not null,
        seq bigint not null,
        epoch bigint not null,
        path text not null,
        event json not null,
        call text,
        call_epoch bigint,
        fact bigint,
        primary key (run, seq)
      );
      create index events_call on events (call, call_epoch, fact) where call is not null;
      create table commands (
        id bigint generated always as identity primary key,
        run text not null,
        body json not null,
        key uuid not null unique,
        receipt json,
        sent timestamptz not null default clock_timestamp()
      );
      create index commands_run on commands (run, id);
      create table artifacts (
        hash text primary key,
        bytes bigint not null,
        body bytea,
        place text,
        created timestamptz not null default clock_timestamp()
      );
      create table outputs (
        run text not null,
        path text not null,
        kind text not null,
        hash text not null references artifacts (hash),
        primary key (run, path, kind)
      );
      create index outputs_hash on outputs (hash);
      create table leases (
        id text primary key,
        place bigint generated always as identity,
        process text not null,
        entry json not null
      );
      create table documents (
        run text not null,
        name text not null,
        body text not null,
        primary key (run, name)
      );
      create table results (
        id bigint generated always as identity primary key,
        key text not null,
        run text not null,
        path text not null,
        at bigint not null,
        unique (key, run, path, at)
      );
      create index results_key on results (key, id);
      create index results_run on results (run);
    `,
  },
  {
    name: "calls of tasks, and messages between runs and workers",
    sql: `
      -- One row per run/path#attempt. "epoch" grows with every placement: whoever acts under an older one is refused.
      create table calls (
        call text primary key,
        run text not null,
        owner text not null,
        run_epoch bigint not null,
        epoch bigint not null default 1,
        state text not null,
        class text,
        worker text,
        why text,
        needs json not null,
        job json,
        barren integer not null default 0,
        changed timestamptz not null default clock_timestamp()
      ) with (fillfactor = 60);
      create index calls_run on calls (run);
      create index calls_owner on calls (owner) where state in ('placed', 'taken', 'stopping', 'returned');
      create index calls_class on calls (class) where state in ('placed', 'taken', 'stopping');
      -- From workers to runs: messages in batches; "number" is that of the first message of a batch.
      create table facts (
        call text not null,
        epoch bigint not null,
        number bigint not null,
        body json not null,
        primary key (call, epoch, number)
      );
      -- From runs to workers.
      create table mail (
        number bigint generated always as identity primary key,
        call text not null,
        epoch bigint not null,
        body json not null,
        key uuid not null
      );
      create unique index mail_call on mail (call, epoch, number);
      create unique index mail_key on mail (key);
      create table answers (
        key text primary key,
        answer json,
        asked timestamptz not null default clock_timestamp()
      );
      create table timers (
        key text primary key,
        until timestamptz not null
      );
    `,
  },
  {
    name: "limits and refused keys that all workers share",
    sql: `
      -- Limits of a name: '*' for all model requests, a provider, or provider/model.
      create table quota (
        name text primary key,
        concurrency integer,
        requests integer,
        tokens bigint
      );
      -- Requests to models that have a limit, from their beginning until a minute later.
      create table model_requests (
        name text not null,
        id uuid not null,
        process text not null,
        tokens bigint not null,
        ended boolean not null default false,
        began timestamptz not null default clock_timestamp(),
        primary key (name, id)
      );
      create index model_requests_id on model_requests (id);
      -- Keys that providers refuse, by a hash, and the one request that finds out whether that is over.
      create table holds (
        key text primary key,
        hold json not null
      );
      create table probes (
        key text primary key,
        process text not null,
        token uuid not null,
        at timestamptz not null default clock_timestamp()
      );
    `,
  },
  {
    name: "the login of each process",
    sql: "alter table processes add column login name not null default current_user",
  },
  {
    name: "contents that match their hash",
    // Without this constraint, a forged row could replace a result that another process stores later.
    sql: `alter table artifacts add constraint artifacts_match
            check (body is null or hash = encode(sha256(body), 'hex')) not valid`,
  },
  {
    name: "the agents that runs carry",
    sql: `
      create table run_agents (
        run text not null,
        hash text not null references artifacts (hash),
        created timestamptz not null default clock_timestamp(),
        primary key (run, hash)
      );
      create index run_agents_hash on run_agents (hash);
    `,
  },
  {
    name: "tasks that wait for their subagents",
    sql: "alter table calls add column waits boolean not null default false",
  },
];
