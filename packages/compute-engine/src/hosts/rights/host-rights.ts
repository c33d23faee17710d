/** The privileges of a host's database role on a table. */
interface TableRights {
  /** Privileges as in `GRANT`. */
  readonly grants: readonly string[];
  /**
   * Conditions on rows, as in `CREATE POLICY`: `using` for rows that exist, `check` for rows as they are written. Omitted: all rows,
   * for tables without secrets.
   */
  readonly policies?: Readonly<Record<string, { readonly using?: string; readonly check?: string }>>;
}

/** The host of the connected role; a subquery, so that it is evaluated once for each statement. */
const ME = '(select apistrata_host())';
const KEEPS_VOLUMES = '(select apistrata_keeps_volumes())';
/** The servers that the policy of the servers table lets the role read. */
const MY_SERVERS = '(select id from servers)';

const every = (condition: string) => ({ all: { using: condition, check: condition } });
const read: TableRights = { grants: ['select'] };
const readIf = (condition: string): TableRights => ({
  grants: ['select'],
  policies: { select: { using: condition } },
});

/** The record of a row, which is what the API reads, must agree with the columns that a policy compares. */
function recordMatches(fields: Readonly<Record<string, string>>): string {
  return Object.entries({ id: 'id', ...fields })
    .map(([field, value]) => `data::json ->> '${field}' = ${value}`)
    .join(' and ');
}

const OWN_SERVICE = `host = ${ME} and binary_name = 'nova-compute'`;
const OWN_EVACUATION = `source_host = ${ME} and type = 'evacuation'`;
/** Snapshots of servers on this host. A host must not offer them to other projects. */
const SNAPSHOT_HERE = `server_id in ${MY_SERVERS} and visibility in ('private', 'shared')`;
const IMAGE_RECEIVES_CONTENT = `image_id in (
  select id from images where server_id in ${MY_SERVERS} and status in ('queued', 'saving'))`;

/**
 * Everything that a host process does in the database. Tables that are not listed, such as those of keys, tokens and quotas, are closed
 * to hosts.
 */
export const hostRights: Readonly<Record<string, TableRights>> = {
  kysely_migration: read,
  schema_needs: read,
  host_orders: {
    grants: ['select', 'update (begun_by, answer, answered_at)', 'delete'],
    policies: every(`host = ${ME}`),
  },
  host_holds: { grants: ['select', 'insert', 'update'], policies: every(`host = ${ME}`) },
  // The addresses of the other hosts, and whether they are up.
  services: {
    grants: ['select', 'insert', 'update'],
    policies: {
      select: { using: 'true' },
      insert: { check: `${OWN_SERVICE} and ${recordMatches({ host: ME, binary: 'binary_name' })}` },
      update: { using: OWN_SERVICE, check: `${OWN_SERVICE} and ${recordMatches({ host: ME, binary: 'binary_name' })}` },
    },
  },
  // Except the columns that count the resources of servers.
  nodes: {
    grants: ['select', 'insert (id, revision, data, host)', 'update (revision, data, host)'],
    policies: {
      select: { using: 'true' },
      insert: { check: `host = ${ME} and ${recordMatches({ host: ME })}` },
      update: { using: `host = ${ME}`, check: `host = ${ME} and ${recordMatches({ host: ME })}` },
    },
  },
  // Evacuations from this host, which it completes when it returns.
  migrations: {
    grants: ['select', 'update'],
    policies: {
      select: { using: `source_host = ${ME}` },
      update: {
        using: `${OWN_EVACUATION} and status = 'done'`,
        check: `${OWN_EVACUATION} and ${recordMatches({ sourceHost: ME, type: 'type', serverId: 'server_id', status: "'completed'" })}`,
      },
    },
  },
  // Servers that are on this host, move to it, or are the subject of a request to it.
  servers: readIf(`host = ${ME}
    or exists (select 1 from json_array_elements(data::json -> 'claims') claim where claim ->> 'host' = ${ME})
    or id in (select server_id from host_orders)`),
  // The only job that a host stores: a server on this host whose guest has ended.
  jobs: {
    grants: ['insert'],
    policies: {
      insert: {
        check: `kind = 'followPower' and lease_owner is null and attempts = 0
          and server_id in (select id from servers where host = ${ME})`,
      },
    },
  },
  // Images that all projects may read, those of servers on this host and their snapshots, and those that requests to
  // this host name.
  images: {
    grants: ['select', 'update'],
    policies: {
      select: {
        using: `visibility in ('public', 'community') or ${KEEPS_VOLUMES} or server_id in ${MY_SERVERS}
          or id in (select image_id from servers)
          or exists (select 1 from host_orders o where images.id = any(string_to_array(o.image_ids, ' ')))`,
      },
      update: {
        using: `status in ('queued', 'saving') and ${SNAPSHOT_HERE}`,
        check: `${SNAPSHOT_HERE} and ${recordMatches({ visibility: 'visibility', projectId: 'project_id' })}`,
      },
    },
  },
  image_members: readIf('image_id in (select id from images)'),
  image_chunks: {
    grants: ['select', 'insert', 'delete'],
    policies: {
      select: { using: 'image_id in (select id from images)' },
      insert: { check: IMAGE_RECEIVES_CONTENT },
      delete: { using: IMAGE_RECEIVES_CONTENT },
    },
  },
  // Networks contain no secrets: a host builds them, and the rules of guests name addresses of others.
  networks: read,
  subnets: read,
  ports: read,
  routers: read,
  floating_ips: read,
  security_groups: read,
  security_group_rules: read,
  router_homes: {
    grants: ['select', 'insert', 'update', 'delete'],
    policies: {
      select: { using: 'true' },
      insert: { check: `host = ${ME}` },
      // Routers of a host that is down move to one that needs them.
      update: { using: 'true', check: `host = ${ME}` },
      delete: { using: `host = ${ME}` },
    },
  },
  volumes: readIf(KEEPS_VOLUMES),
  volume_attachments: readIf(KEEPS_VOLUMES),
  volume_types: readIf(KEEPS_VOLUMES),
};

/** Functions that hosts may call. */
const FUNCTIONS = [
  'apistrata_host()',
  'apistrata_keeps_volumes()',
  'apistrata_concerns(text, text)',
  'apistrata_departed(text)',
];

/** Sequences of the tables into which hosts insert records. */
const SEQUENCES = ['services_seq_seq', 'nodes_seq_seq'];

/** A host and its PostgreSQL role. */
export interface HostRole {
  /** Name of the host. */
  readonly host: string;
  /** Name of the PostgreSQL role, which must exist and belong to this host only. */
  readonly role: string;
  /** Whether the host stores the content of volumes, and therefore reads their records and all images. Default: false. */
  readonly volumes?: boolean;
}

const quotedName = (name: string) => `"${name.replaceAll('"', '""')}"`;
const quotedText = (text: string) => `'${text.replaceAll("'", "''")}'`;

function policiesOf(table: string, { policies }: TableRights): readonly string[] {
  if (!policies) return [];
  return [
    `alter table ${table} enable row level security`,
    ...Object.entries(policies).flatMap(([command, { using, check }]) => {
      const name = `apistrata_hosts_${command}`;
      return [
        `drop policy if exists ${name} on ${table}`,
        `create policy ${name} on ${table} for ${command}${using ? ` using (${using})` : ''}${check ? ` with check (${check})` : ''}`,
      ];
    }),
  ];
}

/**
 * Returns the SQL that gives a PostgreSQL role the rights of a host, and no others. It may be executed repeatedly, by the owner of the
 * tables. Row level security does not apply to the owner, with whose role the API connects.
 */
export function hostRoleSql({ host, role, volumes = false }: HostRole): string {
  const to = quotedName(role);
  const statements = [
    `insert into host_roles (role, host, volumes) values (${quotedText(role)}, ${quotedText(host)}, ${volumes ? 1 : 0})
  on conflict (role) do update set host = excluded.host, volumes = excluded.volumes`,
    `do $$ begin execute format('grant usage on schema %I to %I', current_schema(), ${quotedText(role)}); end $$`,
    ...FUNCTIONS.map((signature) => `grant execute on function ${signature} to ${to}`),
    ...SEQUENCES.map((sequence) => `grant usage on sequence ${sequence} to ${to}`),
    // A transaction for each table, which is locked only for a moment, and never together with another one.
    ...Object.entries(hostRights).flatMap(([table, rights]) => [
      'begin',
      ...policiesOf(table, rights),
      `revoke all on ${table} from ${to}`,
      `grant ${rights.grants.join(', ')} on ${table} to ${to}`,
      'commit',
    ]),
  ];
  return `${statements.join(';\n')};\n`;
}
