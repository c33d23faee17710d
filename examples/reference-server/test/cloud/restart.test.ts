import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import request from 'supertest';
import { afterAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import { type CloudUnderTest, startCloud } from './cloud-under-test.js';

const folder = mkdtempSync(join(tmpdir(), 'apistrata-cloud-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
const postgresUrl = inject('postgresUrl');
const databases = [
  { kind: 'a SQLite file', create: async () => join(folder, `${++files}.db`) },
  ...(postgresUrl ? [{ kind: 'PostgreSQL', create: () => freshDatabase(postgresUrl) }] : []),
];

const CONTENT = Buffer.from(Array.from({ length: 50_000 }, (_, at) => at % 251));

/** Everything that a restart must not change. */
const LISTS = [
  ...['users', 'projects', 'roles', 'role_assignments', 'domains', 'services', 'endpoints', 'regions'].map(
    (name) => `/identity/v3/${name}`,
  ),
  ...['networks', 'subnets', 'ports', 'routers', 'security-groups', 'security-group-rules', 'floatingips'].map(
    (name) => `/network/v2.0/${name}`,
  ),
  ...['volumes/detail?all_tenants=1', 'snapshots/detail?all_tenants=1', 'types'].map((name) => `/volume/v3/${name}`),
  '/image/v2/images',
  '/placement/resource_providers',
  '/compute/v2.1/servers/detail?all_tenants=1',
  '/compute/v2.1/os-keypairs',
];

/** Replaces values that differ between two server processes: addresses and request ids. */
const comparable = (body: unknown) =>
  JSON.parse(JSON.stringify(body).replaceAll(/127\.0\.0\.1:\d+/g, 'HERE'), (key, value) =>
    key === 'request_id' ? 'ID' : value,
  );

async function listsOf(cloud: CloudUnderTest, token: string): Promise<Record<string, any>> {
  const lists: [string, unknown][] = [];
  for (const path of LISTS) {
    const { status, body } = await cloud.send('get', path, token);
    lists.push([path, { status, body: comparable(body) }]);
  }
  return Object.fromEntries(lists);
}

/** The paths of lists that were rejected or are empty, for which a restart shows nothing. */
const emptyPaths = (lists: Record<string, any>) =>
  Object.entries(lists)
    .filter(([, { status, body }]) => status !== 200 || !Object.values<any>(body).some((value) => value?.length > 0))
    .map(([path]) => path);

describe.each(databases)('a whole cloud on $kind', ({ create }) => {
  async function started(database: string, ...args: readonly string[]): Promise<CloudUnderTest> {
    const cloud = await startCloud(database, '--clouds-yaml', join(folder, `${++files}.yaml`), ...args);
    let running = true;
    onTestFinished(async () => {
      if (running) await cloud.stop();
    });
    return {
      ...cloud,
      stop: async () => {
        running = false;
        await cloud.stop();
      },
    };
  }

  it('keeps everything across a restart: users, tokens, images, networks, volumes, servers', async () => {
    const database = await create();
    const cloud = await started(database);
    const admin = await cloud.tokenOf(cloud.admin ?? expect.fail('no administrator'));
    const createItem = async (path: string, token: string, body: object): Promise<any> => {
      const response = await cloud.send('post', path, token, body);
      expect(response, `${path} ${JSON.stringify(response.body)}`).toMatchObject({
        status: expect.toSatisfy((status: number) => status >= 200 && status < 300),
      });
      const [inside] = Object.values(response.body);
      return path.startsWith('/image') ? response.body : inside;
    };

    const lab = await createItem('/identity/v3/projects', admin, { project: { name: 'lab' } });
    const ada = await createItem('/identity/v3/users', admin, { user: { name: 'ada', password: 'pa55 word' } });
    const roles = (await cloud.send('get', '/identity/v3/roles?name=member', admin)).body.roles;
    const grant = `/identity/v3/projects/${lab.id}/users/${ada.id}/roles/${roles[0].id}`;
    expect((await cloud.send('put', grant, admin)).status).toBe(204);
    const account = { user: 'ada', password: 'pa55 word', project: 'lab' };
    const token = await cloud.tokenOf(account);

    const image = await createItem('/image/v2/images', token, {
      name: 'disk',
      disk_format: 'raw',
      container_format: 'bare',
      os_distro: 'debian',
    });
    const file = `/image/v2/images/${image.id}/file`;
    const type = { 'Content-Type': 'application/octet-stream', 'X-Auth-Token': token };
    expect((await request(cloud.app).put(file).set(type).send(CONTENT)).status).toBe(204);

    const external = (await cloud.send('get', '/network/v2.0/networks?router:external=true', token)).body.networks[0];
    const network = await createItem('/network/v2.0/networks', token, {
      network: { name: 'blue', description: 'ours' },
    });
    const subnet = await createItem('/network/v2.0/subnets', token, {
      subnet: { network_id: network.id, ip_version: 4, cidr: '10.7.0.0/24', name: 'desks' },
    });
    const router = await createItem('/network/v2.0/routers', token, {
      router: { name: 'edge', external_gateway_info: { network_id: external.id } },
    });
    const joined = `/network/v2.0/routers/${router.id}/add_router_interface`;
    expect((await cloud.send('put', joined, token, { subnet_id: subnet.id })).status).toBe(200);
    const group = await createItem('/network/v2.0/security-groups', token, { security_group: { name: 'web' } });
    await createItem('/network/v2.0/security-group-rules', token, {
      security_group_rule: {
        security_group_id: group.id,
        direction: 'ingress',
        protocol: 'tcp',
        port_range_min: 22,
        port_range_max: 22,
      },
    });
    const port = await createItem('/network/v2.0/ports', token, { port: { network_id: network.id, name: 'front' } });
    await createItem('/network/v2.0/floatingips', token, {
      floatingip: { floating_network_id: external.id, port_id: port.id },
    });

    const volume = await createItem('/volume/v3/volumes', token, {
      volume: { size: 1, name: 'data', metadata: { a: 'b' } },
    });
    await expect
      .poll(async () => (await cloud.send('get', `/volume/v3/volumes/${volume.id}`, token)).body.volume.status)
      .toBe('available');
    await createItem('/volume/v3/snapshots', token, { snapshot: { volume_id: volume.id, name: 'monday' } });

    await createItem('/compute/v2.1/os-keypairs', token, { keypair: { name: 'key' } });
    await createItem('/compute/v2.1/servers', token, {
      server: { name: 'web', flavorRef: '1', imageRef: image.id, networks: [{ port: port.id }], key_name: 'key' },
    });
    await cloud.engine.idle();

    const [before, own] = [await listsOf(cloud, admin), await listsOf(cloud, token)];
    // Key pairs belong to users: the only one is Ada's.
    expect(emptyPaths(before)).toEqual(['/compute/v2.1/os-keypairs']);
    expect(own['/compute/v2.1/os-keypairs'].body.keypairs).toHaveLength(1);
    expect(before['/compute/v2.1/servers/detail?all_tenants=1'].body.servers[0].status).toBe('ACTIVE');
    await cloud.stop();

    const next = await started(database);
    expect(next.admin).toBeUndefined();
    expect(await listsOf(next, admin)).toEqual(before);
    expect(await listsOf(next, token)).toEqual(own);
    const downloaded = await request(next.app).get(file).set('X-Auth-Token', token).buffer(true);
    expect(downloaded.body.equals(CONTENT)).toBe(true);
    expect((await next.logIn(account)).status).toBe(201);
    expect((await next.logIn({ ...account, password: 'pa55 Word' })).status).toBe(401);
    // A removed record stays removed, and its token is invalid.
    expect((await next.send('delete', `/identity/v3/users/${ada.id}`, admin)).status).toBe(204);
    await next.stop();
    const last = await started(database);
    expect((await last.send('get', '/network/v2.0/networks', token)).status).toBe(401);
    expect((await last.logIn(account)).status).toBe(401);
  });

  it('shows the password of the administrator once, and creates a new one on request', async () => {
    const database = await create();
    const cloud = await started(database);
    const { admin = expect.fail('no administrator'), file = '' } = cloud;
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toContain(`password: ${admin.password}\n`);
    const application = { application_credential: { name: 'ci', secret: 'a secret of ours' } };
    const token = await cloud.tokenOf(admin);
    const { user } = (await cloud.logIn(admin)).body.token;
    const path = `/identity/v3/users/${user.id}/application_credentials`;
    expect((await cloud.send('post', path, token, application)).status).toBe(201);
    await cloud.stop();
    if (!database.startsWith('postgres'))
      for (const name of readdirSync(folder).filter((name) => name.startsWith(database.slice(folder.length + 1))))
        for (const secret of [admin.password, token, 'a secret of ours'])
          if (statSync(join(folder, name)).isFile())
            expect([name, readFileSync(join(folder, name)).includes(secret)]).toEqual([name, false]);

    const next = await started(database, '--reset-admin-password');
    const { admin: changed = expect.fail('no administrator') } = next;
    expect(changed.password).not.toBe(admin.password);
    expect((await next.logIn(admin)).status).toBe(401);
    expect((await next.logIn(changed)).status).toBe(201);
  });

  it('serves the API only to its own users, with the roles that they have in it', async () => {
    const cloud = await started(await create());
    const admin = await cloud.tokenOf(cloud.admin ?? expect.fail('no administrator'));
    for (const path of ['/compute/v2.1/servers', '/v2.1/servers', '/network/v2.0/networks', '/volume/v3/volumes']) {
      expect((await cloud.send('get', path, undefined)).status).toBe(401);
      expect((await cloud.send('get', path, 'admin:demo')).status).toBe(401);
      expect((await cloud.send('get', path, admin)).status).toBe(200);
    }
    const { catalog } = (await cloud.send('get', '/identity/v3/auth/catalog', admin)).body;
    expect(catalog.map(({ type }: { type: string }) => type).sort()).toEqual([
      'block-storage',
      'compute',
      'identity',
      'image',
      'network',
      'placement',
      'volumev3',
    ]);
  });
});

it('a second process on the same database takes over, and the first no longer writes', async ({ skip }) => {
  if (!postgresUrl) skip('PostgreSQL is not installed');
  const database = await freshDatabase(postgresUrl ?? '');
  const first = await startCloud(database, '--clouds-yaml', join(folder, `${++files}.yaml`));
  onTestFinished(() => first.stop());
  const account = first.admin ?? expect.fail('no administrator');
  const second = await startCloud(database);
  onTestFinished(() => second.stop());
  const rejection = await first.logIn(account);
  expect([rejection.status, rejection.body.error.message]).toEqual([
    503,
    'Another process serves this cloud from the same database, so this process can no longer write.',
  ]);
  expect((await second.logIn(account)).status).toBe(201);
});
