import { sql } from 'kysely';
import { ownWork } from '../context.js';
import type { Engine } from '../engine.js';
import { coreOf } from '../engine-core.js';
import { tables } from '../store/tables.js';

export interface Population {
  readonly count: number;
  /** Whose they are, in turns. */
  readonly owners: readonly { readonly projectId: string; readonly userId: string }[];
  /** Default: the first flavor and image there are. */
  readonly flavorId?: string;
  readonly imageId?: string;
}

const OWN_WORK = ownWork({ userId: 'populate', projectId: 'populate' });

/** Columns that a copy does not take over as they are, with the expressions that give its own. */
const OWN: Readonly<Record<string, string>> = {
  id: 'c.id',
  revision: 'abs(random()) % 4503599627370496',
  name: 'c.name',
  project_id: 'c.project',
  user_id: 'c.owner',
  host: 'c.host',
  data: `json_set(t.data, '$.id', c.id, '$.name', c.name, '$.hostname', c.name, '$.projectId', c.project,
    '$.userId', c.owner, '$.host', c.host, '$.node', c.node, '$.claims[0].host', c.host)`,
};

/**
 * Makes many running servers at once, on all hosts in turns: one is created the usual way, and the database copies it.
 * They have no ports, and ids that are the same every time. For tests and trials, on SQLite only.
 */
export async function populateServers(engine: Engine, { count, owners, ...given }: Population): Promise<void> {
  const { store, infrastructure } = coreOf(engine);
  if (store.kind !== 'sqlite') throw new TypeError('populateServers() copies within SQLite, not in other databases');
  if (count < 1) return;
  const flavorId = given.flavorId ?? (await tables.flavors.find(store, (q) => q.orderBy('seq').limit(1)))[0]!.id;
  const images = await engine.catalogs.images.list(OWN_WORK.caller);
  const imageId = given.imageId ?? images[0]!.id;
  const context = { ...OWN_WORK, requestId: 'req-00000000-0000-4000-8000-000000000000' };
  const { servers } = await engine.servers.create(context, { name: 'template', flavorId, imageId, networks: 'none' });
  await engine.idle();
  const template = servers[0]!.id;
  const columns = await sql<{ name: string }>`select name from pragma_table_info('servers')`.execute(store.db);
  const names = columns.rows.map(({ name }) => name).filter((name) => name !== 'seq');
  await store.transaction(async (tx) => {
    await sql`
      insert into servers (${sql.raw(names.join(', '))})
      with recursive
        numbers(i) as (select 0 union all select i + 1 from numbers where i + 1 < ${count}),
        hosts as materialized (
          select host, json_extract(data, '$.hypervisorHostname') as node, row_number() over (order by seq) - 1 as k from nodes
        ),
        owners as materialized (
          select key as k, json_extract(value, '$.projectId') as project, json_extract(value, '$.userId') as owner
          from json_each(${JSON.stringify(owners)})
        ),
        copies as (
          select numbers.i, hosts.host, hosts.node, owners.project, owners.owner,
            printf('server-%06d', i + 1) as name,
            printf('5e51%04x-%04x-4000-8000-%012x', i >> 16, i & 65535, i) as id
          from numbers
          join hosts on hosts.k = numbers.i % (select count(*) from hosts)
          join owners on owners.k = numbers.i % ${owners.length}
        )
      select ${sql.raw(names.map((name) => OWN[name] ?? `t.${name}`).join(', '))}
      from copies c cross join servers t where t.id = ${template} order by c.i
    `.execute(tx.db);
    await tx.db.deleteFrom('servers').where('id', '=', template).execute();
    await tx.db.deleteFrom('instance_actions').where('server_id', '=', template).execute();
    await sql`
      update nodes set
        servers = (select count(*) from servers s where s.host = nodes.host and s.deleted = 0),
        vcpus_used = (select coalesce(sum(s.vcpus), 0) from servers s where s.host = nodes.host and s.deleted = 0),
        memory_mb_used = (select coalesce(sum(s.memory_mb), 0) from servers s where s.host = nodes.host and s.deleted = 0),
        local_gb_used = (select coalesce(sum(json_extract(s.data, '$.flavor.diskGb')), 0) from servers s where s.host = nodes.host and s.deleted = 0)
    `.execute(tx.db);
    infrastructure.changedIn(tx);
  });
}
