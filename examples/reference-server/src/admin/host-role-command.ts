import { rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { grantHostRole, type HostRole, hostKeysOf, hostRoleSql } from '@apistrata/compute-engine/maintenance';
import { choice, flag, text } from '../option-kinds.js';
import type { DatabaseCommand } from './admin-command.js';
import { findKeyFile } from './key-file.js';

export interface GrantedHostRole extends HostRole {
  /** The SQL statements, if `--print-sql` was set. */
  readonly sql?: string;
  /** The file with the host's key, if `--host-key-file` was set. */
  readonly keyFile?: string;
}

/** Replaces a file with one that only its owner can read. */
async function writeKeyFile(file: string, hostKeys: readonly string[]): Promise<void> {
  await rm(file, { force: true });
  await writeFile(file, `${hostKeys.join('\n')}\n`, { mode: 0o600, flag: 'wx' });
}

/** Grants a PostgreSQL role the database privileges of one host, and writes the host's key file. */
export const hostRoleCommand: DatabaseCommand<GrantedHostRole> = {
  on: 'database',
  usage: 'NAME',
  summary: 'grant a PostgreSQL role only the privileges of the host NAME; repeat after each update of apistrata',
  argumentCount: [1, 1],
  options: {
    role: text('ROLE', 'the PostgreSQL role, which must exist; default: host_NAME'),
    'host-key-file': text('FILE', "write the host's key to this file, for host --host-key-file"),
    'tunnel-address': text(
      'A',
      'address of the host, with --network-mode bridge; lowers the MTU of networks so that their packets fit into its tunnels',
    ),
    'tunnel-encryption': choice(
      'KIND',
      ['off', 'wireguard'],
      'off',
      'tunnel encryption of the host (with --tunnel-address); encryption makes the tunnel header larger',
    ),
    'stores-volumes': flag('the host stores volume data (host --volumes)'),
    'print-sql': flag('print the SQL instead of executing it'),
  },
  run: async ({ database, options, environment }, { arguments: [host = ''], own }) => {
    const role: HostRole = { host, role: own.role ?? `host_${host}`, volumes: own['stores-volumes'] };
    if (own['print-sql']) return { ...role, sql: hostRoleSql(role) };
    const requestedKeyFile = own['host-key-file'];
    const keyFile = requestedKeyFile === undefined ? undefined : resolve(requestedKeyFile);
    const hostKeys =
      keyFile && (await hostKeysOf(database, host, { secretKeyFile: findKeyFile(options, environment, database) }));
    await grantHostRole(database, {
      ...role,
      tunnelAddress: own['tunnel-address'],
      tunnelsEncrypted: own['tunnel-encryption'] === 'wireguard',
    });
    if (keyFile && hostKeys) await writeKeyFile(keyFile, hostKeys);
    return { ...role, keyFile };
  },
  text: ({ host, role, sql, keyFile }) =>
    sql?.trimEnd() ??
    [
      `The PostgreSQL role ${role} has the privileges of the host ${host}.`,
      ...(keyFile ? [`Its key is in ${keyFile}: copy the file to that host only.`] : []),
    ].join(' '),
};
