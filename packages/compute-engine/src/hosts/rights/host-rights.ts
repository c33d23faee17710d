/** The privileges of a host's database role on a table. */
interface TablePrivileges {
  /** Privileges as in `GRANT`. */
  readonly grants: readonly string[];
  /**
   * Conditions on rows by command, as in `CREATE POLICY`: `using` for existing rows, `check` for written rows. If
   * omitted, all rows are accessible, because the table contains no secrets.
   */
  readonly policies?: Readonly<Record<string, { readonly using?: string; readonly check?: string }>>;
}

/** The host of the connected role, as a subquery, which is evaluated only once for each statement. */
const CURRENT_HOST = '(select apistrata_host())';
const HOST_STORES_VOLUMES = '(select apistrata_keeps_volumes())';
/** The servers that the role may read, as limited by the policy of the table `servers`. */
const SERVERS_ON_HOST = '(select id from servers)';

const allowAllCommandsIf = (condition: string) => ({ all: { using: condition, check: condition } });
const READ_ALL_ROWS: TablePrivileges = { grants: ['select'] };
const readRowsIf = (condition: string): TablePrivileges => ({
  grants: ['select'],
  policies: { select: { using: condition } },
});

/**
 * Returns an SQL condition. It requires the JSON record of a row, which the API reads, to have the same values as the
 * columns that a row-level security policy compares.
 */
function recordMatches(fields: Readonly<Record<string, string>>): string {
  return Object.entries({ id: 'id', ...fields })
    .map(([field, value]) => `data::json ->> '${field}' = ${value}`)
    .join(' and ');
}

const OWN_SERVICE = `host = ${CURRENT_HOST} and binary_name = 'nova-compute'`;
const OWN_EVACUATION = `source_host = ${CURRENT_HOST} and type = 'evacuation'`;
/** Snapshots of servers on this host. A host must not make them available to other projects. */
const OWN_SNAPSHOT = `server_id in ${SERVERS_ON_HOST} and visibility in ('private', 'shared')`;
const IMAGE_RECEIVES_CONTENT = `image_id in (
  select id from images where server_id in ${SERVERS_ON_HOST} and status in ('queued', 'saving'))`;

/**
 * The database privileges of host processes. They cannot access tables that are not listed, such as those with keys,
 * tokens and quotas.
 */
export const hostPrivileges: Readonly<Record<string, TablePrivileges>> = {
  kysely_migration: READ_ALL_ROWS,
  schema_needs: READ_ALL_ROWS,
  host_orders: {
    grants: ['select', 'update (begun_by, answer, answered_at)', 'delete'],
    policies: allowAllCommandsIf(`host = ${CURRENT_HOST}`),
  },
  host_holds: { grants: ['select', 'insert', 'update'], policies: allowAllCommandsIf(`host = ${CURRENT_HOST}`) },
  // A host may read the addresses of other hosts, and whether the other hosts are up.
  services: {
    grants: ['select', 'insert', 'update'],
    policies: {
      select: { using: 'true' },
      insert: { check: `${OWN_SERVICE} and ${recordMatches({ host: CURRENT_HOST, binary: 'binary_name' })}` },
      update: {
        using: OWN_SERVICE,
        check: `${OWN_SERVICE} and ${recordMatches({ host: CURRENT_HOST, binary: 'binary_name' })}`,
      },
    },
  },
  // Hosts may write all columns except those that count allocated resources.
  nodes: {
    grants: ['select', 'insert (id, revision, data, host)', 'update (revision, data, host)'],
    policies: {
      select: { using: 'true' },
      insert: { check: `host = ${CURRENT_HOST} and ${recordMatches({ host: CURRENT_HOST })}` },
      update: {
        using: `host = ${CURRENT_HOST}`,
        check: `host = ${CURRENT_HOST} and ${recordMatches({ host: CURRENT_HOST })}`,
      },
    },
  },
  // Evacuations from this host. The host completes them when it is up again.
  migrations: {
    grants: ['select', 'update'],
    policies: {
      select: { using: `source_host = ${CURRENT_HOST}` },
      update: {
        using: `${OWN_EVACUATION} and status = 'done'`,
        check: `${OWN_EVACUATION} and ${recordMatches({ sourceHost: CURRENT_HOST, type: 'type', serverId: 'server_id', status: "'completed'" })}`,
      },
    },
  },
  // Servers that are on this host, move to it, or are the subject of a request to it.
  servers: readRowsIf(`host = ${CURRENT_HOST}
    or exists (select 1 from json_array_elements(data::json -> 'claims') claim where claim ->> 'host' = ${CURRENT_HOST})
    or id in (select server_id from host_orders)`),
  // The only job that a host stores: it updates a server on this host whose machine has changed its power state.
  jobs: {
    grants: ['insert'],
    policies: {
      insert: {
        check: `kind = 'followPower' and lease_owner is null and attempts = 0
          and server_id in (select id from servers where host = ${CURRENT_HOST})`,
      },
    },
  },
  // Images that all projects may read, images of servers on this host, snapshots of these servers, and images that
  // requests to this host name.
  images: {
    grants: ['select', 'update'],
    policies: {
      select: {
        using: `visibility in ('public', 'community') or ${HOST_STORES_VOLUMES} or server_id in ${SERVERS_ON_HOST}
          or id in (select image_id from servers)
          or exists (select 1 from host_orders o where images.id = any(string_to_array(o.image_ids, ' ')))`,
      },
      update: {
        using: `status in ('queued', 'saving') and ${OWN_SNAPSHOT}`,
        check: `${OWN_SNAPSHOT} and ${recordMatches({ visibility: 'visibility', projectId: 'project_id' })}`,
      },
    },
  },
  image_members: readRowsIf('image_id in (select id from images)'),
  image_chunks: {
    grants: ['select', 'insert', 'delete'],
    policies: {
      select: { using: 'image_id in (select id from images)' },
      insert: { check: IMAGE_RECEIVES_CONTENT },
      delete: { using: IMAGE_RECEIVES_CONTENT },
    },
  },
  // Networks contain no secrets. A host sets them up, and the security group rules of its guests refer to addresses of
  // other guests.
  networks: READ_ALL_ROWS,
  subnets: READ_ALL_ROWS,
  ports: READ_ALL_ROWS,
  routers: READ_ALL_ROWS,
  floating_ips: READ_ALL_ROWS,
  security_groups: READ_ALL_ROWS,
  security_group_rules: READ_ALL_ROWS,
  router_homes: {
    grants: ['select', 'insert', 'update', 'delete'],
    policies: {
      select: { using: 'true' },
      insert: { check: `host = ${CURRENT_HOST}` },
      // A host that needs a router takes it over from a host that is down.
      update: { using: 'true', check: `host = ${CURRENT_HOST}` },
      delete: { using: `host = ${CURRENT_HOST}` },
    },
  },
  // Hosts of volumes contain no secrets. A host needs them to reach the volumes of its servers.
  volume_homes: READ_ALL_ROWS,
  volumes: readRowsIf(HOST_STORES_VOLUMES),
  volume_attachments: readRowsIf(HOST_STORES_VOLUMES),
  volume_types: readRowsIf(HOST_STORES_VOLUMES),
};

/** Functions that hosts may call. */
const GRANTED_FUNCTIONS = [
  'apistrata_host()',
  'apistrata_keeps_volumes()',
  'apistrata_concerns(text, text)',
  'apistrata_departed(text)',
];

/** Sequences of the tables into which hosts insert records. */
const GRANTED_SEQUENCES = ['services_seq_seq', 'nodes_seq_seq'];

/** A host and its PostgreSQL role. */
export interface HostRole {
  /** Name of the host. */
  readonly host: string;
  /** Name of the PostgreSQL role, which must exist and belong to this host only. */
  readonly role: string;
  /**
   * Whether the host stores the content of volumes, and therefore may read their records and all images. Default:
   * false.
   */
  readonly volumes?: boolean;
}

const quoteName = (name: string) => `"${name.replaceAll('"', '""')}"`;
const quoteText = (text: string) => `'${text.replaceAll("'", "''")}'`;

function policyStatements(table: string, { policies }: TablePrivileges): readonly string[] {
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
 * Returns the SQL that grants a PostgreSQL role the privileges of a host, and no others. The owner of the tables may
 * execute it repeatedly. Row-level security does not apply to the owner, whose role the API processes use.
 */
export function hostRoleSql({ host, role, volumes = false }: HostRole): string {
  const to = quoteName(role);
  const statements = [
    `insert into host_roles (role, host, volumes) values (${quoteText(role)}, ${quoteText(host)}, ${volumes ? 1 : 0})
  on conflict (role) do update set host = excluded.host, volumes = excluded.volumes`,
    `do $$ begin execute format('grant usage on schema %I to %I', current_schema(), ${quoteText(role)}); end $$`,
    ...GRANTED_FUNCTIONS.map((signature) => `grant execute on function ${signature} to ${to}`),
    ...GRANTED_SEQUENCES.map((sequence) => `grant usage on sequence ${sequence} to ${to}`),
    // Each table has its own transaction, so that it is locked only briefly and never together with another table.
    ...Object.entries(hostPrivileges).flatMap(([table, privileges]) => [
      'begin',
      ...policyStatements(table, privileges),
      `revoke all on ${table} from ${to}`,
      `grant ${privileges.grants.join(', ')} on ${table} to ${to}`,
      'commit',
    ]),
  ];
  return `${statements.join(';\n')};\n`;
}
