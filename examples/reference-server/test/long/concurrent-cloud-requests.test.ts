import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { durableDatabases } from '../durable-databases.js';
import { sendRequest, startProgram } from '../program.js';
import { RandomCloudRequests, type SentRequest } from '../random-cloud-requests.js';

const REQUESTS = 4000;
const CLIENTS = 24;

const { folder, databases } = durableDatabases('concurrent-cloud');

async function deadlocksOf(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query(
      'select deadlocks::int from pg_stat_database where datname = current_database()',
    );
    return rows[0].deadlocks;
  } finally {
    await client.end();
  }
}

describe.each(databases)('concurrent random requests to the services of a cloud on $kind', ({ kind, url }) => {
  it('cause no server errors and no deadlocks, and leave the services consistent', { timeout: 300_000 }, async () => {
    const database = await url();
    const settings = join(folder, `${kind.replaceAll(' ', '-')}.yaml`);
    const unlimited = ['instances', 'cores', 'ram'].flatMap((name) => ['--quota', `${name}=-1`]);
    const program = await startProgram([
      ...['--cloud', '--db', database, '--log-level', 'error', '--clouds-yaml', settings],
      ...unlimited,
    ]);
    onTestFinished(async () => void (await program.end('SIGKILL')));
    const [, password = ''] = await program.printed(/^export OS_PASSWORD=(\S+)$/m);
    const domain = { id: 'default' };
    const identity = { methods: ['password'], password: { user: { name: 'admin', domain, password } } };
    const { headers } = await sendRequest(program.url, 'POST', '/identity/v3/auth/tokens', {
      body: { auth: { identity, scope: { project: { name: 'admin', domain } } } },
    });
    const requests = new RandomCloudRequests(program.url, headers.get('x-subject-token') ?? '');
    const list = async (path: string, key: string): Promise<any[]> => (await requests.send('GET', path)).body[key];
    for (const { id } of await list('/network/v2.0/networks?router:external=True', 'networks'))
      requests.add('external', id);
    for (const { id } of await list('/image/v2/images', 'images')) requests.add('image', id);
    for (const type of ['network', 'network', 'subnet', 'subnet', 'router', 'volume', 'project', 'role', 'group'])
      await requests.create(type);

    const sent: SentRequest[] = [];
    let remaining = REQUESTS;
    await Promise.all(
      Array.from({ length: CLIENTS }, async () => {
        while (remaining-- > 0) sent.push(await requests.sendOne());
      }),
    );
    expect(sent.filter(({ status }) => status >= 500)).toEqual([]);
    // Most kinds of requests must have succeeded, otherwise the test proves nothing.
    const names = new Set(sent.map(({ name }) => name));
    const succeeded = new Set(sent.flatMap(({ name, status }) => (status < 300 ? name : [])));
    expect(succeeded.size).toBeGreaterThan(0.8 * names.size);
    if (database.startsWith('postgres')) expect(await deadlocksOf(database)).toBe(0);

    await eventually(
      async () => {
        const servers = await list('/compute/v2.1/servers/detail', 'servers');
        expect(servers.filter((server) => server['OS-EXT-STS:task_state'] !== null)).toEqual([]);
      },
      { timeout: 60_000, interval: 500 },
    );
    const [ports, networks, subnets, floatingIps] = await Promise.all(
      ['ports', 'networks', 'subnets', 'floatingips'].map((key) => list(`/network/v2.0/${key}`, key)),
    );
    const idsOf = (resources: any[] | undefined) => new Set(resources!.map(({ id }) => id));
    const addresses = ports!.flatMap(({ fixed_ips }) => fixed_ips.map((ip: any) => `${ip.subnet_id} ${ip.ip_address}`));
    expect(new Set(addresses).size).toBe(addresses.length);
    for (const port of ports!) {
      expect(idsOf(networks)).toContain(port.network_id);
      for (const { subnet_id } of port.fixed_ips) expect(idsOf(subnets)).toContain(subnet_id);
    }
    for (const { port_id } of floatingIps!) if (port_id !== null) expect(idsOf(ports)).toContain(port_id);

    // Volumes are attached and detached without a task state.
    await eventually(
      async () => {
        const servers = await list('/compute/v2.1/servers/detail?limit=1000', 'servers');
        for (const { id, status, attachments } of await list('/volume/v3/volumes/detail', 'volumes')) {
          const holders = servers.filter((server) =>
            server['os-extended-volumes:volumes_attached'].some((volume: { id: string }) => volume.id === id),
          );
          const attachedTo = attachments.map(({ server_id }: { server_id: string }) => server_id);
          // Volumes that are only reserved do not show their attachments.
          expect(holders.length, id).toBeLessThan(2);
          if (status === 'reserved') expect(holders).toHaveLength(1);
          else
            expect({ id, status, attachedTo }, JSON.stringify(holders)).toEqual({
              id,
              status,
              attachedTo: holders.map((one) => one.id),
            });
        }
      },
      { timeout: 60_000, interval: 500 },
    );
    const volumes = await list('/volume/v3/volumes/detail', 'volumes');
    const snapshots = await list('/volume/v3/snapshots/detail', 'snapshots');
    for (const { volume_id } of snapshots) expect(idsOf(volumes)).toContain(volume_id);
    expect(await program.end('SIGTERM')).toBe(0);
  });
});
