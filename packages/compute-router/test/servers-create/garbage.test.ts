import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ids } from '../api-under-test.js';
import { cloud, known, plain } from './cloud.js';

const fields = [
  ...['name', 'imageRef', 'flavorRef', 'adminPass', 'metadata', 'networks', 'OS-DCF:diskConfig', 'accessIPv4'],
  ...['accessIPv6', 'availability_zone', 'block_device_mapping', 'block_device_mapping_v2', 'config_drive', 'key_name'],
  ...['min_count', 'max_count', 'return_reservation_id', 'security_groups', 'user_data', 'personality', 'description'],
  ...['tags', 'trusted_image_certificates', 'host', 'hypervisor_hostname', 'hostname', '__proto__', 'constructor'],
];

const odd = fc.constantFrom<unknown>(
  ...[
    null,
    true,
    0,
    -1,
    1e308,
    '',
    '\0',
    '\ud800',
    '9'.repeat(400),
    ids.image,
    ids.network,
    known.volume,
    'east:a:b:c',
  ],
  ...[[], {}, [{}], [null], [[]], { __proto__: null, toString: 1 }, [{ uuid: ids.network }], [{ port: null }], 'auto'],
);

const device = fc.record(
  {
    source_type: fc.constantFrom('volume', 'image', 'snapshot', 'blank'),
    destination_type: fc.constantFrom('local', 'volume'),
    uuid: fc.constantFrom(ids.image, known.volume, known.rootVolume, known.nothing, 'x'),
    boot_index: fc.constantFrom<unknown>(0, '0', 1, -1, null, 1e15, '99999999999999999999999'),
    volume_size: fc.constantFrom<unknown>(1, '2', 2_147_483_647),
    device_name: fc.constantFrom('vda', '/dev/vdb', '///', '.'),
    guest_format: fc.constantFrom('swap', 'ext4', '\0'),
    disk_bus: fc.constantFrom('virtio', 'scsi', 'x'),
    no_device: fc.constantFrom<unknown>(null, true, {}),
    volume_type: fc.constantFrom<unknown>(null, 'standard', '\0', ''),
    tag: fc.constantFrom('a', '\0'),
  },
  { requiredKeys: [] },
);

const server = fc
  .tuple(
    fc.dictionary(fc.constantFrom(...fields), fc.oneof(odd, fc.jsonValue({ maxDepth: 3 })), { maxKeys: 3 }),
    fc.option(fc.array(device, { maxLength: 4 }), { nil: undefined }),
  )
  .map(([given, devices]) => ({
    ...plain,
    ...given,
    ...(devices && { imageRef: '', block_device_mapping_v2: devices }),
  }));

const hints = fc.dictionary(
  fc.constantFrom(
    'group',
    'same_host',
    'different_host',
    'query',
    'cidr',
    'build_near_host_ip',
    'target_cell',
    'x',
    '__proto__',
  ),
  fc.oneof(odd, fc.jsonValue({ maxDepth: 4 }), fc.constantFrom('["and"]', '["=",["=",["$a"]]]', '/33', '::1', '\0')),
  { maxKeys: 3 },
);

describe('any body', () => {
  it('never causes a 500, and created servers reach a final state', async () => {
    const api = await cloud({
      router: { maxVersion: '2.104' },
      engine: { settings: { quotas: { instances: 50, cores: -1, ram: -1 } as never } },
    });
    const versions = fc.constantFrom('2.37', '2.42', '2.56', '2.74', '2.100', '2.104');
    const tokens = fc.constantFrom('ada:p1', 'admin:p1');
    await fc.assert(
      fc.asyncProperty(server, hints, versions, tokens, async (given, requested, version, token) => {
        const client = api.as(token, version);
        const { status, body } = await client.post('/servers', { server: given, 'os:scheduler_hints': requested });
        expect([202, 400, 403, 409]).toContain(status);
        if (status !== 202) return;
        await api.idle();
        const { servers } = (await client.get('/servers/detail')).body;
        for (const created of servers) {
          expect(['ACTIVE', 'ERROR']).toContain(created.status);
          expect((await client.delete(`/servers/${created.id}`)).status).toBe(204);
        }
        expect(body).toBeTypeOf('object');
        await api.idle();
      }),
      { numRuns: 400 },
    );
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 3 }), versions, async (body, version) => {
        expect((await api.as('ada:p1', version).post('/servers', body)).status).toBe(400);
        expect((await api.as('ada:p1', version).put('/servers/x', { server: body })).status).toBeLessThan(500);
      }),
      { numRuns: 100 },
    );
    expect(api.errors).toEqual([]);
    await api.close();
  });
});
