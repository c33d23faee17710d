import type { Store } from '@apistrata/record-store';
import { sql } from 'kysely';
import type { Server } from '../../model/index.js';

/** Returns whether a server is on a host, is moving to it, or is leaving it. */
export async function concerns(store: Store, serverId: string, host: string): Promise<boolean> {
  const { rows } = await sql<{
    concerns: boolean;
  }>`select apistrata_concerns(${serverId}, ${host}) as concerns`.execute(store.db);
  return rows[0]?.concerns === true;
}

/**
 * Returns the data with which a host removes the machine of a server that has left it; undefined if the server does not
 * exist. The database role of the host can no longer read the server itself.
 */
export async function readDepartedServer(store: Store, serverId: string): Promise<Server | undefined> {
  const { rows } = await sql<{ data: string | null }>`select apistrata_departed(${serverId}) as data`.execute(store.db);
  const json = rows[0]?.data;
  return json ? (JSON.parse(json) as Server) : undefined;
}
