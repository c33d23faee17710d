import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import { type Program, sendRequest, startProgram } from '../program.js';

const folder = mkdtempSync(join(tmpdir(), 'apistrata-cloud-crash-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const postgresUrl = inject('postgresUrl');
const databases = [
  { kind: 'a SQLite file', url: async () => join(folder, 'cloud.db') },
  ...(postgresUrl ? [{ kind: 'PostgreSQL', url: () => freshDatabase(postgresUrl) }] : []),
];

type Fields = Readonly<Record<string, unknown>>;

/** A kind of resource that is created under load. */
interface Kind {
  readonly path: string;
  /** The key of a resource in requests; undefined if the body of a request contains only the fields. */
  readonly one?: string;
  /** The key of the list in responses. */
  readonly many: string;
  /** The path of the list, with all fields, if it differs from the path at which resources are created. */
  readonly list?: string;
  /** The fields of a new resource, which the list must contain after the kill. One of them contains the name. */
  readonly fields: (name: string, externalNetwork: string) => Fields;
  /** Fields of a new resource that the list does not contain. */
  readonly secrets?: (name: string) => Fields;
}

const IMAGES = 'images';
const KINDS: readonly Kind[] = [
  {
    path: '/identity/v3/users',
    one: 'user',
    many: 'users',
    fields: (name) => ({ name }),
    secrets: (name) => ({ password: `of ${name}` }),
  },
  { path: '/identity/v3/projects', one: 'project', many: 'projects', fields: (name) => ({ name }) },
  { path: '/identity/v3/roles', one: 'role', many: 'roles', fields: (name) => ({ name }) },
  {
    path: '/network/v2.0/networks',
    one: 'network',
    many: 'networks',
    fields: (name) => ({ name, dns_domain: `${name}.test.` }),
  },
  {
    path: '/network/v2.0/routers',
    one: 'router',
    many: 'routers',
    fields: (name) => ({ name, description: `of ${name}` }),
  },
  {
    path: '/network/v2.0/security-groups',
    one: 'security_group',
    many: 'security_groups',
    fields: (name) => ({ name, description: `of ${name}` }),
  },
  {
    path: '/network/v2.0/floatingips',
    one: 'floatingip',
    many: 'floatingips',
    fields: (description, floating_network_id) => ({ description, floating_network_id }),
  },
  {
    path: '/volume/v3/volumes',
    one: 'volume',
    many: 'volumes',
    list: '/volume/v3/volumes/detail',
    fields: (name) => ({ name, size: 1, metadata: { of: name } }),
  },
  {
    path: '/image/v2/images',
    many: IMAGES,
    list: '/image/v2/images?limit=1000',
    fields: (name) => ({ name, disk_format: 'raw', container_format: 'bare' }),
  },
];

/** The minimum number of acknowledged requests of each kind before a kill, so that the test cannot pass without load. */
const MIN_ACKNOWLEDGED = 8;
const KILLS = 2;
/** The size of an image, which is stored in several parts. */
const IMAGE_BYTES = 300_000;

const contentOf = (name: string) => Buffer.alloc(IMAGE_BYTES, `content of ${name}, `);

describe.each(databases)('a whole cloud that is killed under load, on $kind', { timeout: 240_000 }, ({ kind, url }) => {
  let program: Program;

  const start = (database: string) =>
    startProgram([
      '--cloud',
      '--db',
      database,
      '--log-level',
      'error',
      '--clouds-yaml',
      join(folder, `${kind.replaceAll(' ', '-')}.yaml`),
    ]);

  async function tokenOf(user: string, password: string): Promise<string> {
    const domain = { id: 'default' };
    const scope = user === 'admin' ? { project: { name: 'admin', domain } } : 'unscoped';
    const identity = { methods: ['password'], password: { user: { name: user, domain, password } } };
    const { status, headers } = await sendRequest(program.url, 'POST', '/identity/v3/auth/tokens', {
      body: { auth: { identity, scope } },
    });
    expect(status, user).toBe(201);
    return headers.get('x-subject-token') ?? '';
  }

  async function send(token: string, method: string, path: string, body?: object) {
    const response = await sendRequest(program.url, method, path, { token, body });
    expect(response.status, `${method} ${path} ${JSON.stringify(response.body)}`).toBeLessThan(300);
    return response.body;
  }

  /** Removes the quotas of the administrator's project, and returns the id of a new external network. */
  async function prepare(token: string): Promise<string> {
    const { projects } = await send(token, 'GET', '/identity/v3/projects?name=admin');
    const project = projects[0].id;
    const unlimited = { network: -1, subnet: -1, router: -1, security_group: -1, security_group_rule: -1 };
    await send(token, 'PUT', `/network/v2.0/quotas/${project}`, { quota: { ...unlimited, floatingip: -1 } });
    await send(token, 'PUT', `/volume/v3/os-quota-sets/${project}`, { quota_set: { volumes: -1, gigabytes: -1 } });
    const { network } = await send(token, 'POST', '/network/v2.0/networks', {
      network: { name: 'outside', 'router:external': true },
    });
    const subnet = { network_id: network.id, ip_version: 4, cidr: '10.99.0.0/16' };
    await send(token, 'POST', '/network/v2.0/subnets', { subnet });
    return network.id;
  }

  async function upload(token: string, id: string, name: string): Promise<void> {
    const response = await fetch(`${program.url}/image/v2/images/${id}/file`, {
      method: 'PUT',
      headers: { 'X-Auth-Token': token, 'Content-Type': 'application/octet-stream' },
      body: contentOf(name),
    });
    expect(response.status, name).toBe(204);
  }

  async function checkContent(token: string, image: Fields, name: string): Promise<void> {
    expect(image).toMatchObject({
      status: 'active',
      size: IMAGE_BYTES,
      checksum: createHash('md5').update(contentOf(name)).digest('hex'),
      os_hash_value: createHash('sha512').update(contentOf(name)).digest('hex'),
    });
    const headers = { 'X-Auth-Token': token };
    const response = await fetch(`${program.url}/image/v2/images/${image.id}/file`, { headers });
    expect(Buffer.from(await response.arrayBuffer()).equals(contentOf(name)), name).toBe(true);
  }

  it('has everything that it acknowledged', async () => {
    const database = await url();
    program = await start(database);
    // A failed test must not leave the program running.
    onTestFinished(async () => void (await program.end('SIGKILL')));
    const [, password = ''] = await program.printed(/^export OS_PASSWORD=(\S+)$/m);
    const token = await tokenOf('admin', password);
    const externalNetwork = await prepare(token);
    const acknowledged = new Map<Kind, string[]>(KINDS.map((one) => [one, []]));

    async function createUntilKilled(worker: string, signal: AbortSignal): Promise<void> {
      for (let number = 0; !signal.aborted; number++) {
        const created = KINDS[number % KINDS.length] ?? expect.fail('no kinds');
        const { path, one, many, fields, secrets } = created;
        const name = `n${worker}-${number}`;
        const all = { ...fields(name, externalNetwork), ...secrets?.(name) };
        const { id } = await send(token, 'POST', path, one ? { [one]: all } : all);
        if (many === IMAGES) await upload(token, id, name);
        acknowledged.get(created)?.push(name);
      }
    }

    async function checkAll(): Promise<void> {
      for (const [{ path, list = path, many, fields }, names] of acknowledged) {
        const resources: readonly Fields[] = (await send(token, 'GET', list))[many];
        for (const name of names) {
          const expected = fields(name, externalNetwork);
          const found = resources.find((one) => Object.keys(expected).some((key) => one[key] === name));
          expect(found, `${many} ${name}`).toMatchObject(expected);
          if (found && many === IMAGES) await checkContent(token, found, name);
        }
      }
    }

    for (let kill = 1; kill <= KILLS; kill++) {
      const killed = new AbortController();
      const workers = Promise.allSettled(
        [1, 2, 3, 4].map((worker) => createUntilKilled(`${kill}-${worker}`, killed.signal)),
      );
      const leastCount = () => Math.min(...[...acknowledged.values()].map((names) => names.length));
      await eventually(() => expect(leastCount()).toBeGreaterThanOrEqual(kill * MIN_ACKNOWLEDGED));
      expect(await program.end('SIGKILL')).toBeNull();
      killed.abort();
      // The requests that are in flight when the process ends fail.
      const failures = (await workers).flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
      for (const failure of failures) expect(String(failure)).toMatch(/fetch failed|terminated/);
      program = await start(database);
      await checkAll();
    }
    const [user = ''] = [...acknowledged].flatMap(([{ many }, names]) => (many === 'users' ? names : []));
    await tokenOf(user, `of ${user}`);
    expect(await program.end('SIGTERM')).toBe(0);
  });
});
