import { readFileSync } from 'node:fs';
import { SimulatedDriver } from '@apistrata/compute-engine/drivers';
import { coreOf } from '@apistrata/compute-engine/testing';
import { Version } from '@apistrata/microversion';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, apiUnderTest, ids } from '../api-under-test.js';

interface Field {
  readonly name: string;
  readonly since: string;
  readonly until: string | null;
  readonly always: boolean;
  readonly notes?: string;
}

const { resources } = JSON.parse(
  readFileSync(new URL('../../../../reference/resources.json', import.meta.url), 'utf8'),
) as { resources: { server: Record<string, { fields: readonly Field[] }> } };

const v = Version.of;

/** The fields of a representation at a version, without those of nested objects. */
function fieldsOf(form: string, version: string, below = ''): Field[] {
  return resources.server[form]!.fields.filter(({ name, since, until }) => {
    const inside = below === '' ? !/[.[]/.test(name.replace(/^OS-[^.[]*/, '')) : name.startsWith(below);
    return inside && v(version).within(v(since), until === null ? undefined : v(until));
  });
}

/** Returns the versions at which the fields of a form change, and the version before each change. */
function edgesOf(form: string): string[] {
  const edges = resources.server[form]!.fields.flatMap(({ since, until }) => [
    since,
    before(since),
    ...(until ? [until, v(until).next().text] : []),
  ]);
  return [...new Set([...edges, '2.1', '2.100'])].filter((text) => v(text).within(v('2.1'), v('2.100')));
}

function before(version: string): string {
  const [major, minor] = version.split('.').map(Number) as [number, number];
  return `${major}.${Math.max(1, minor - 1)}`;
}

const forAdmins = ({ notes = '' }: Field) => /\(admin\)/.test(notes);

describe('the representation of servers', () => {
  let api: Api;
  let active: any;
  let failed: any;

  beforeAll(async () => {
    api = await apiUnderTest({
      engine: {
        driver: (clock) =>
          new SimulatedDriver({ clock, rules: [{ match: { name: 'doomed', verb: 'spawn' }, fail: 'no' }] as never }),
      },
    });
    const ada = api.as('ada:p1', '2.100');
    active = await ada.boot({
      name: 'web',
      networks: [{ uuid: ids.network }],
    });
    const volume = { source_type: 'image', uuid: ids.image, destination_type: 'volume', boot_index: 0, volume_size: 1 };
    await ada.boot({ name: 'disk', imageRef: '', block_device_mapping_v2: [volume] });
    failed = await ada.boot({ name: 'doomed' });
    expect([active.status, failed.status]).toEqual(['ACTIVE', 'ERROR']);
  });
  afterAll(async () => {
    expect(api.errors).toEqual([]);
    await api.close();
  });

  const forms: [string, (id: string) => string, (body: any) => any][] = [
    ['list_brief', () => '/servers?name=^web$', (body) => body.servers[0]],
    ['list_detail', () => '/servers/detail?name=^web$', (body) => body.servers[0]],
    ['show', (id) => `/servers/${id}`, (body) => body.server],
    ['update', (id) => `/servers/${id}`, (body) => body.server],
  ];
  const edges = forms.flatMap(([form, path, pick]) =>
    edgesOf(form).map((version) => [form, version, path, pick] as const),
  );

  it.each(edges)(
    '%s at %s has exactly the fields of the table, for members and for administrators',
    async (form, version, path, pick) => {
      for (const token of ['ada:p1', 'admin:p1']) {
        const client = api.as(token, version);
        const responded =
          form === 'update' ? await client.put(path(active.id), { server: {} }) : await client.get(path(active.id));
        expect(responded.status).toBe(200);
        const shown = pick(responded.body);
        const seen = (field: Field) => field.name !== 'fault' && (token.startsWith('admin') || !forAdmins(field));
        const expected = fieldsOf(form, version).filter(seen);
        expect(Object.keys(shown).sort()).toEqual([...new Set(expected.map(({ name }) => name))].sort());
        for (const object of ['flavor', 'image']) {
          if (!(object in shown)) continue;
          const inner = fieldsOf(form, version, `${object}.`).map(({ name }) => name.slice(object.length + 1));
          expect(Object.keys(shown[object]).sort()).toEqual(inner.filter((name) => !/[.[]/.test(name)).sort());
        }
        for (const [address] of Object.values(shown.addresses ?? {}) as any[][]) {
          const inner = fieldsOf(form, version, 'addresses.*[].').map(({ name }) => name.replace('addresses.*[].', ''));
          expect(Object.keys(address).sort()).toEqual(inner.sort());
        }
      }
    },
  );

  it('shows the fault of a server in error, with details for administrators', async () => {
    const path = `/servers/${failed.id}`;
    for (const version of ['2.1', '2.100']) {
      const { fault } = (await api.as('ada:p1', version).get(path)).body.server;
      expect(Object.keys(fault).sort()).toEqual(['code', 'created', 'message']);
      expect(fault.code).toBe(500);
      expect(Object.keys((await api.as('admin:p1', version).get(path)).body.server.fault)).toContain('details');
    }
    expect(failed).not.toHaveProperty('progress');
    expect(failed).not.toHaveProperty('security_groups');
  });

  it('shows no image, and the disk, of a server that boots from a volume', async () => {
    const [server] = (await api.as('ada:p1', '2.2').get('/servers/detail?name=disk')).body.servers;
    expect(server.image).toBe('');
    expect(server['os-extended-volumes:volumes_attached']).toEqual([{ id: expect.any(String) }]);
    const [later] = (await api.as('ada:p1', '2.3').get('/servers/detail?name=disk')).body.servers;
    expect(later['os-extended-volumes:volumes_attached']).toEqual([
      { id: expect.any(String), delete_on_termination: false },
    ]);
  });

  it('formats values as in the table', async () => {
    const { server } = (await api.as('admin:p1', '2.100').get(`/servers/${active.id}`)).body;
    expect(server).toMatchObject({
      config_drive: '',
      created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      updated: expect.stringMatching(/Z$/),
      hostId: expect.stringMatching(/^[0-9a-f]{56}$/),
      host_status: 'UP',
      key_name: null,
      'OS-DCF:diskConfig': 'MANUAL',
      'OS-EXT-AZ:availability_zone': 'nova',
      'OS-EXT-SRV-ATTR:instance_name': expect.stringMatching(/^instance-[0-9a-f]{8}$/),
      'OS-EXT-SRV-ATTR:reservation_id': expect.stringMatching(/^r-[a-z0-9]{8}$/),
      'OS-EXT-SRV-ATTR:root_device_name': '/dev/vda',
      'OS-EXT-STS:power_state': 1,
      'OS-EXT-STS:task_state': null,
      'OS-EXT-STS:vm_state': 'active',
      'OS-SRV-USG:launched_at': expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/),
      'OS-SRV-USG:terminated_at': null,
      security_groups: [{ name: 'default' }],
      server_groups: [],
      pinned_availability_zone: null,
      trusted_image_certificates: null,
      locked_reason: null,
      tags: [],
    });
    expect(server.scheduler_hints).toEqual({});
    const links = server.links.map(({ rel, href }: any) => [rel, href.replace(api.url, '')]);
    expect(links).toEqual([
      ['self', `/v2.1/servers/${active.id}`],
      ['bookmark', `/servers/${active.id}`],
    ]);
  });
});

describe('servers whose host cannot be reached', () => {
  let api: Api;
  let lost: any;
  const plain = { name: 'lost', 'OS-EXT-AZ:availability_zone': undefined };

  beforeAll(async () => {
    api = await apiUnderTest();
    const admin = api.as('admin:p1', '2.100');
    lost = await admin.boot({ name: plain.name });
    await admin.boot({
      name: 'fine',
      availability_zone: `nova:${lost['OS-EXT-SRV-ATTR:host'] === 'host1' ? 'host2' : 'host1'}`,
    });
    coreOf(api.engine).infrastructure.setReachable(lost['OS-EXT-SRV-ATTR:host'], false);
  });
  afterAll(() => api.close());

  const count = async (version: string, query = '') =>
    (await api.as('ada:p1', version).get(`/servers${query}`)).body.servers.length;

  it('are omitted from lists until 2.68, and listed with known fields since 2.69', async () => {
    expect(await count('2.68')).toBe(1);
    const { servers } = (await api.as('ada:p1', '2.69').get('/servers')).body;
    const partial = servers.find(({ id }: any) => id === lost.id);
    expect(Object.keys(partial).sort()).toEqual(
      fieldsOf('list_brief_partial', '2.69')
        .map(({ name }) => name)
        .sort(),
    );
    expect(partial.status).toBe('UNKNOWN');
    const detail = (await api.as('ada:p1', '2.69').get('/servers/detail')).body.servers.find(
      ({ id }: any) => id === lost.id,
    );
    expect(Object.keys(detail).sort()).toEqual(
      fieldsOf('list_detail_partial', '2.69')
        .filter(({ always }) => always)
        .filter(({ name }) => !name.startsWith('security_groups'))
        .map(({ name }) => name)
        .sort(),
    );
  });

  it('are omitted from lists that are filtered, sorted or paged', async () => {
    for (const query of ['?name=.', '?limit=10', '?sort_key=display_name', '?status=ACTIVE', `?marker=${lost.id}`]) {
      expect([query, await count('2.100', query)]).toEqual([query, query === `?marker=${lost.id}` ? 0 : 1]);
    }
    expect((await api.as('admin:p1', '2.100').get('/servers?all_tenants=1')).body.servers).toHaveLength(2);
  });

  it('return 500 when shown until 2.68, and known fields since 2.69', async () => {
    expect((await api.as('ada:p1', '2.68').get(`/servers/${lost.id}`)).status).toBe(500);
    for (const version of ['2.69', '2.70', '2.71', '2.97', '2.98']) {
      const { server } = (await api.as('ada:p1', version).get(`/servers/${lost.id}`)).body;
      const names = fieldsOf('show_partial', version).map(({ name }) => name);
      expect(Object.keys(server).sort()).toEqual(names.sort());
      expect(server).toMatchObject({ status: 'UNKNOWN', 'OS-EXT-STS:power_state': 0 });
    }
  });
});
