import { fitIntoTunnels, type HostTunnel } from '@apistrata/catalogs/builtin';
import { openDatabase } from '@apistrata/record-store';
import { defaultDatabaseSettings } from '@apistrata/record-store/options';
import { CompiledQuery, type Kysely, sql } from 'kysely';
import { hostTunnels } from '../hosts/host-tunnels.js';
import { type HostRole, hostRoleSql } from '../hosts/rights/host-rights.js';
import { openStore } from '../schema/open-store.js';
import { createSealer, type SecretKeyOptions } from '../secrets/sealer-for.js';
import { isPostgres } from './database-reader.js';
import { MaintenanceError } from './maintenance-error.js';

/** Maximum wait for locks that other statements hold. After that, the command fails and changes nothing. */
const LOCK_TIMEOUT = "'10s'";

/** A host, and the PostgreSQL role to which its privileges are granted. */
export interface GrantedHostRole extends HostRole {
  /**
   * The IP address of the host, if tunnels connect its networks to other hosts. If the packets of a network do not fit
   * into the tunnels, the MTU of the network is lowered.
   */
  readonly tunnelAddress?: string;
  /** Whether the host encrypts its tunnels, which lowers the MTU further. Default false. */
  readonly tunnelsEncrypted?: boolean;
}

interface RoleFacts {
  readonly known: boolean;
  readonly unlimited: boolean;
  readonly is_owner: boolean;
  readonly creates: boolean;
  readonly migrated: boolean;
}

async function readRoleFacts(db: Kysely<any>, role: string): Promise<RoleFacts | undefined> {
  const { rows } = await sql<RoleFacts>`
    select r.rolsuper or r.rolbypassrls as unlimited,
      to_regclass('host_roles') is not null and pg_has_role(r.oid, (select relowner from pg_class where oid = to_regclass('host_roles')), 'member') as is_owner,
      has_schema_privilege(r.oid, current_schema(), 'create') as creates,
      to_regclass('host_roles') is not null as migrated
    from pg_roles r where r.rolname = ${role}`.execute(db);
  return rows[0];
}

/** Rejects roles whose privileges cannot be limited, such as those that bypass row-level security. */
async function checkRole(db: Kysely<any>, role: string): Promise<void> {
  const facts = await readRoleFacts(db, role);
  if (!facts)
    throw new MaintenanceError(
      `the PostgreSQL role ${role} does not exist: create it as a superuser, with create role "${role}" login password '...'`,
    );
  if (!facts.migrated) throw new MaintenanceError('the tables belong to an older version: run db migrate');
  if (facts.unlimited || facts.is_owner)
    throw new MaintenanceError(
      `the PostgreSQL role ${role} is a superuser, bypasses row level security or is a member of the role that owns the tables: use a role for this host only`,
    );
  if (facts.creates)
    throw new MaintenanceError(
      `the PostgreSQL role ${role} may create tables and functions: as a superuser, run "revoke create on schema public from public"`,
    );
}

/**
 * Grants a PostgreSQL role the privileges of a host: access to the host's requests and servers, and to the records that
 * these refer to. May be called repeatedly, and while servers and hosts use the database.
 * @param url URL of the PostgreSQL database, with the role that owns the tables
 *
 * @throws MaintenanceError if the role does not exist, or has privileges that cannot be limited
 */
export async function grantHostRole(url: string, hostRole: GrantedHostRole): Promise<void> {
  const { tunnelAddress: address, tunnelsEncrypted: encrypted = false } = hostRole;
  if (!isPostgres(url))
    throw new MaintenanceError('hosts have roles only in PostgreSQL: select the database with --db');
  const { db } = openDatabase(url, { ...defaultDatabaseSettings, poolSize: 1 });
  try {
    await checkRole(db, hostRole.role);
    await db.connection().execute(async (connection) => {
      await connection.executeQuery(CompiledQuery.raw(`set lock_timeout = ${LOCK_TIMEOUT}`));
      await connection.executeQuery(CompiledQuery.raw(hostRoleSql(hostRole)));
    });
  } finally {
    await db.destroy();
  }
  if (address !== undefined) await fitNetworks(url, { address, encrypted });
}

/**
 * Lowers the MTU of networks so that their packets fit into the host's tunnels. A host without its own database
 * role lowers the MTU itself, but the role of a host has no privilege to change networks.
 */
async function fitNetworks(url: string, tunnel: HostTunnel): Promise<void> {
  const store = await openStore(url, { poolSize: 1 });
  try {
    await store.transaction(async (tx) => fitIntoTunnels(tx, await hostTunnels(tx), tunnel, Date.now()));
  } finally {
    await store.close();
  }
}

/**
 * Derives the keys of a host from the secret key of the cloud, in the format of `hostKeyFile`. Neither the secret key
 * of the cloud nor the keys of other hosts can be derived from them.
 *
 * @throws SecretKeyError
 */
export async function hostKeysOf(url: string, host: string, options: SecretKeyOptions): Promise<readonly string[]> {
  return (await createSealer(url, options))?.deriveHostKeys(host) ?? [];
}
