import { setTimeout as passed } from 'node:timers/promises';
import { sendRequest } from '../program.js';

const CONDITION_TIMEOUT_MS = 60_000;
const ADMIN = { token: 'admin:demo' };

/** Deletes the servers of all projects, and waits until they are deleted. */
export async function removeServers(url: string): Promise<void> {
  for (const end = performance.now() + CONDITION_TIMEOUT_MS; ; ) {
    const { body } = await sendRequest(url, 'GET', '/v2.1/servers/detail?all_tenants=1', ADMIN);
    const servers = body.servers as { id: string; status: string }[];
    if (servers.length === 0) return;
    if (performance.now() > end) throw new Error(`not deleted: ${JSON.stringify(servers)}`);
    for (const { id } of servers) await sendRequest(url, 'DELETE', `/v2.1/servers/${id}`, ADMIN);
    await passed(50);
  }
}
