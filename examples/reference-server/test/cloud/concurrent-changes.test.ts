import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { durableDatabases } from '../durable-databases.js';
import { images, network, type Services, servicesOf, volume } from './cloud-services.js';
import { type CloudResponse, type CloudUnderTest, startCloud } from './cloud-under-test.js';

const PATCH = { 'Content-Type': 'application/openstack-images-v2.1-json-patch' };
const BYTES = { 'Content-Type': 'application/octet-stream' };
const VLAN = {
  'provider:network_type': 'vlan',
  'provider:physical_network': 'home',
  'provider:segmentation_id': 7,
};
/** The number of requests that are sent concurrently. */
const COUNT = 8;

const isSuccess = ({ status }: CloudResponse) => status < 300;

/** Returns how many of several concurrent requests succeed. */
async function successes(send: (index: number) => Promise<CloudResponse>, count = COUNT): Promise<number> {
  const responses = await Promise.all(Array.from({ length: count }, (_, index) => send(index)));
  expect(responses.filter(({ status }) => status >= 500)).toEqual([]);
  return responses.filter(isSuccess).length;
}

const { databases } = durableDatabases('concurrent-changes');

describe.each(databases)('concurrent changes in a cloud on $kind', ({ url }) => {
  let cloud: CloudUnderTest;
  let services: Services;
  beforeAll(async () => {
    cloud = await startCloud(await url());
    services = await servicesOf(cloud);
  });
  afterAll(() => cloud.stop());

  describe('of several identical requests, only one succeeds', () => {
    const trunkBody = (port_id: string) => ({
      sub_ports: [{ port_id, segmentation_type: 'vlan', segmentation_id: 5 }],
    });
    const attachBody = () => ({ 'os-attach': { instance_uuid: randomUUID(), mountpoint: '/dev/vdb' } });
    const CASES: Readonly<Record<string, (given: Services) => Promise<(index: number) => Promise<CloudResponse>>>> = {
      async 'a network with a VLAN'({ send }) {
        return () => send('POST', network('networks'), { network: VLAN });
      },
      async 'a flat network'({ send }) {
        const flat = { 'provider:network_type': 'flat', 'provider:physical_network': 'home' };
        return () => send('POST', network('networks'), { network: flat });
      },
      async 'a trunk'({ send, newPort }) {
        const port_id = await newPort();
        return () => send('POST', network('trunks'), { trunk: { port_id } });
      },
      async 'a port in two trunks'({ send, newPort, newTrunk }) {
        const [port, ...trunks] = [await newPort(), await newTrunk(), await newTrunk()];
        return (index) => send('PUT', network(`trunks/${trunks[index % 2]}/add_subports`), trunkBody(port));
      },
      async 'a reservation of a volume'({ send, newVolume }) {
        const id = await newVolume();
        return () => send('POST', volume(`volumes/${id}/action`), { 'os-reserve': null });
      },
      async 'an attachment of a volume'({ send, newVolume }) {
        const id = await newVolume();
        return () => send('POST', volume(`volumes/${id}/action`), attachBody());
      },
      async 'a transfer'({ send, newVolume }) {
        const volume_id = await newVolume();
        return () => send('POST', volume('volume-transfers'), { transfer: { volume_id } });
      },
      async 'the acceptance of a transfer'({ send, create, newVolume }) {
        const transfer = { volume_id: await newVolume() };
        const { id, auth_key } = await create(volume('volume-transfers'), 'transfer', transfer);
        return () => send('POST', volume(`volume-transfers/${id}/accept`), { accept: { auth_key } });
      },
      async 'an image with an id'({ send }) {
        const id = randomUUID();
        return () => send('POST', images(), { id });
      },
      async 'an upload'({ send, newImage }) {
        const id = await newImage();
        return (index) => send('PUT', images(`/${id}/file`), 'x'.repeat(index + 1), BYTES);
      },
      async 'a user'({ send }) {
        return () => send('POST', '/identity/v3/users', { user: { name: 'new', password: 'secret-secret' } });
      },
    };
    it.for(Object.entries(CASES))('%s', async ([, prepare]) => {
      expect(await successes(await prepare(services))).toBe(1);
    });
  });

  it('additions to the same resource are all stored', async () => {
    const { send, create, newImage, newVolume } = services;
    const id = await newVolume();
    const action = (body: object) => send('POST', volume(`volumes/${id}/action`), body);
    expect(
      await successes((index) =>
        index % 2
          ? send('POST', volume(`volumes/${id}/metadata`), { metadata: { [`key ${index}`]: 'x' } })
          : action({ 'os-set_image_metadata': { metadata: { [`key ${index}`]: 'x' } } }),
      ),
    ).toBe(COUNT);
    const shown = (await send('GET', volume(`volumes/${id}`))).body.volume;
    expect(Object.keys(shown.metadata)).toHaveLength(COUNT / 2);
    expect(Object.keys(shown.volume_image_metadata)).toHaveLength(COUNT / 2);

    const type = await create(volume('types'), 'volume_type', { name: 'fast' });
    const specs = volume(`types/${type.id}/extra_specs`);
    await successes((index) => send('POST', specs, { extra_specs: { [`key-${index}`]: 'x' } }));
    expect(Object.keys((await send('GET', specs)).body.extra_specs)).toHaveLength(COUNT);

    const image = await newImage();
    await successes((index) =>
      index % 2
        ? send('PUT', images(`/${image}/tags/t${index}`))
        : send('PATCH', images(`/${image}`), JSON.stringify([{ op: 'add', path: `/p${index}`, value: 'x' }]), PATCH),
    );
    const { tags, ...others } = (await send('GET', images(`/${image}`))).body;
    expect([tags.length, Object.keys(others).filter((key) => /^p\d$/.test(key)).length]).toEqual([4, 4]);
  });

  describe('quotas are exact', () => {
    it.for([
      ['network', 'networks', async () => ({})],
      ['router', 'routers', async () => ({})],
      ['subnetpool', 'subnetpools', async () => ({ name: 'pool', prefixes: ['10.0.0.0/16'] })],
      ['port', 'ports', async ({ newNetwork }: Services) => ({ network_id: await newNetwork() })],
    ] as const)('for the %s', async ([one, path, fieldsOf]) => {
      const { project, limited } = await services.newProject();
      await services.send('PUT', network(`quotas/${project}`), { quota: { [one]: 3 } });
      const fields = await fieldsOf(services);
      expect(await successes(() => limited('POST', network(path), { [one]: fields }))).toBe(3);
    });

    it('for volumes, snapshots, backups, groups and their sizes', async () => {
      const { send, create, newProject } = services;
      const { project, limited } = await newProject();
      const limit = (quota_set: object) => send('PUT', volume(`os-quota-sets/${project}`), { quota_set });
      await limit({ volumes: 3, snapshots: 2, backups: 2, groups: 1 });
      expect(await successes(() => limited('POST', volume('volumes'), { volume: { size: 1 } }))).toBe(3);
      const volumes = (await limited('GET', volume('volumes'))).body.volumes;
      const volume_id = volumes[0].id;
      expect(await successes(() => limited('POST', volume('snapshots'), { snapshot: { volume_id } }))).toBe(2);
      expect(await successes(() => limited('POST', volume('backups'), { backup: { volume_id } }))).toBe(2);
      const type = await create(volume('types'), 'volume_type', { name: 'of the group' });
      const { id: group_type } = await create(volume('group_types'), 'group_type', { name: 'any' });
      const group = { group_type, volume_types: [type.id] };
      expect(await successes(() => limited('POST', volume('groups'), { group }))).toBe(1);
      // The three volumes and two snapshots use 5 GiB of 10 GiB, so only one of the volumes can grow by 4 GiB.
      await limit({ gigabytes: 10 });
      const extend = { 'os-extend': { new_size: 5 } };
      expect(
        await successes((index) => limited('POST', volume(`volumes/${volumes[index % 3].id}/action`), extend), 3),
      ).toBe(1);
    });

    it('for the prefixes of a subnet pool', async () => {
      const { send, create, newNetwork } = services;
      const pool = { name: 'small', prefixes: ['10.99.0.0/24'], default_prefixlen: 26 };
      const { id: subnetpool_id } = await create(network('subnetpools'), 'subnetpool', pool);
      const networkIds: string[] = [];
      for (let index = 0; index < COUNT; index++) networkIds.push(await newNetwork());
      expect(
        await successes((index) =>
          send('POST', network('subnets'), { subnet: { network_id: networkIds[index], ip_version: 4, subnetpool_id } }),
        ),
      ).toBe(4);
    });

    it('for the inventory of a provider', async () => {
      const { send } = services;
      const place = (method: string, path: string, body: object) =>
        send(method, `/placement/${path}`, body, { 'OpenStack-API-Version': 'placement 1.39' });
      const { body: provider } = await place('POST', 'resource_providers', { name: 'rack' });
      await place('PUT', `resource_providers/${provider.uuid}/inventories`, {
        resource_provider_generation: provider.generation,
        inventories: { VCPU: { total: 5 } },
      });
      const allocations = { [provider.uuid]: { resources: { VCPU: 1 } } };
      const consumer = { project_id: 'p', user_id: 'u', consumer_generation: null, consumer_type: 'INSTANCE' };
      expect(await successes(() => place('PUT', `allocations/${randomUUID()}`, { allocations, ...consumer }))).toBe(5);
    });
  });

  describe('of two mutually exclusive requests, only one succeeds', () => {
    let nextVlan = 100;
    const CASES: Readonly<Record<string, (given: Services) => Promise<readonly [string, string, object?][]>>> = {
      async 'deleting a port, and creating a trunk'({ newPort }) {
        const port_id = await newPort();
        return [
          ['DELETE', network(`ports/${port_id}`)],
          ['POST', network('trunks'), { trunk: { port_id } }],
        ];
      },
      async 'a trunk, and a subport of another trunk'({ newPort, newTrunk }) {
        const [port_id, trunk] = [await newPort(), await newTrunk()];
        const sub_ports = [{ port_id, segmentation_type: 'vlan', segmentation_id: 5 }];
        return [
          ['POST', network('trunks'), { trunk: { port_id } }],
          ['PUT', network(`trunks/${trunk}/add_subports`), { sub_ports }],
        ];
      },
      async 'deleting a QoS policy, and using it'({ create, newNetwork }) {
        const { id } = await create(network('qos/policies'), 'policy', { name: 'slow' });
        return [
          ['DELETE', network(`qos/policies/${id}`)],
          ['PUT', network(`networks/${await newNetwork()}`), { network: { qos_policy_id: id } }],
        ];
      },
      async 'deleting a subnet pool, and using it'({ create, newNetwork }) {
        const pool = { name: 'small', prefixes: ['10.99.0.0/24'], default_prefixlen: 26 };
        const { id: subnetpool_id } = await create(network('subnetpools'), 'subnetpool', pool);
        const subnet = { network_id: await newNetwork(), ip_version: 4, subnetpool_id };
        return [
          ['DELETE', network(`subnetpools/${subnetpool_id}`)],
          ['POST', network('subnets'), { subnet }],
        ];
      },
      async 'a network with a VLAN, and a change of another network'({ newNetwork }) {
        const id = await newNetwork();
        const fields = { ...VLAN, 'provider:segmentation_id': nextVlan++ };
        return [
          ['POST', network('networks'), { network: fields }],
          ['PUT', network(`networks/${id}`), { network: fields }],
        ];
      },
      async 'deleting a backup, and an incremental backup'({ create, newVolume }) {
        const backup = { volume_id: await newVolume() };
        const { id } = await create(volume('backups'), 'backup', backup);
        return [
          ['DELETE', volume(`backups/${id}`)],
          ['POST', volume('backups'), { backup: { ...backup, incremental: true } }],
        ];
      },
      async 'deleting QoS specs, and using them'({ create }) {
        const { id } = await create(volume('qos-specs'), 'qos_specs', { name: randomUUID() });
        const type = await create(volume('types'), 'volume_type', { name: randomUUID() });
        return [
          ['DELETE', volume(`qos-specs/${id}`)],
          ['GET', volume(`qos-specs/${id}/associate?vol_type_id=${type.id}`)],
        ];
      },
      async 'accepting a transfer, and deleting it'({ create, newVolume }) {
        const transfer = { volume_id: await newVolume() };
        const { id, auth_key } = await create(volume('volume-transfers'), 'transfer', transfer);
        return [
          ['POST', volume(`volume-transfers/${id}/accept`), { accept: { auth_key } }],
          ['DELETE', volume(`volume-transfers/${id}`)],
        ];
      },
    };
    it.for(Object.entries(CASES))('%s', async ([, prepare]) => {
      for (let round = 0; round < 4; round++) {
        const requests = await prepare(services);
        const ordered = round % 2 ? [...requests].reverse() : requests;
        expect(await successes((index) => services.send(...ordered[index]!), 2)).toBe(1);
      }
    });
  });
});
