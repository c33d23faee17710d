import { randomUUID } from 'node:crypto';
import type { SimulatedDriver } from '@apistrata/compute-engine/drivers';
import { coreOf } from '@apistrata/compute-engine/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { ids } from '../api-under-test.js';
import { largeCapacityApi, newestAction, ada as owner } from '../servers-parts/large-capacity-api.js';
import { sharedByTests } from '../shared-by-tests.js';

describe('interfaces of a server', () => {
  const api = sharedByTests(largeCapacityApi);

  const at = (version: string) => api.as('ada:p1', version);
  const portsOf = (deviceId: string) => api.engine.embedded.networks.listPorts(owner, { deviceIds: [deviceId] });

  async function bootWith(version: string, interfaceAttachment: object | undefined = {}) {
    const ada = at(version);
    const { id } = await ada.boot();
    const path = `/servers/${id}/os-interface`;
    const plugged = await ada.post(path, { interfaceAttachment });
    expect(plugged.status).toBe(200);
    return { ada, id, path, shown: plugged.body.interfaceAttachment };
  }

  it('are attached synchronously, by default to the only network', async () => {
    const { ada, id, path, shown } = await bootWith('2.1');
    expect(Object.keys(shown).sort()).toEqual(['fixed_ips', 'mac_addr', 'net_id', 'port_id', 'port_state']);
    expect(shown).toMatchObject({ net_id: ids.network, port_state: 'ACTIVE' });
    const [port] = await portsOf(id);
    expect(port).toMatchObject({ id: shown.port_id, deviceId: id, deviceOwner: 'compute:nova' });
    expect(port!.hostId).not.toBe('');
    expect((await ada.get(`${path}/${shown.port_id}`)).body).toEqual({ interfaceAttachment: shown });
    expect((await ada.get(path)).body).toEqual({ interfaceAttachments: [shown] });
    const { server } = (await ada.get(`/servers/${id}`)).body;
    expect(server.addresses.private[0]).toMatchObject({
      addr: shown.fixed_ips[0].ip_address,
      'OS-EXT-IPS-MAC:mac_addr': shown.mac_addr,
    });
    expect(await newestAction(api, id)).toMatchObject({
      action: 'attach_interface',
      events: [{ name: 'compute_attach_interface', result: 'Success' }],
    });
  });

  it('show their tag since 2.70, and accept it since 2.49', async () => {
    const { id, path, shown } = await bootWith('2.70', { net_id: ids.network, tag: 'nic' });
    expect(shown.tag).toBe('nic');
    expect((await at('2.69').get(path)).body.interfaceAttachments[0]).not.toHaveProperty('tag');
    expect((await at('2.48').post(path, { interfaceAttachment: { tag: 'x' } })).status).toBe(400);
    expect((await bootWith('2.70')).shown.tag).toBeNull();
    expect((await at('2.100').get(`/servers/${id}/os-interface`)).body.interfaceAttachments[0].tag).toBe('nic');
  });

  it('get the requested address, and reject unavailable ones', async () => {
    const fixed = (ip_address: string) => ({ net_id: ids.network, fixed_ips: [{ ip_address }] });
    const { ada, path, shown } = await bootWith('2.1', fixed('10.0.9.9'));
    expect(shown.fixed_ips.map((f: any) => f.ip_address)).toEqual(['10.0.9.9']);
    const plug = async (interfaceAttachment: unknown) => (await ada.post(path, { interfaceAttachment })).status;
    expect(await plug(fixed('10.0.9.9'))).toBe(409);
    expect(await plug(fixed('192.168.1.1'))).toBe(400);
    expect(await plug({ fixed_ips: [{ ip_address: '10.0.9.10' }] })).toBe(400);
    expect(await plug({ net_id: ids.network, fixed_ips: [] })).toBe(400);
    expect(await plug({ net_id: ids.network, fixed_ips: [{ ip_address: '1' }] })).toBe(400);
    expect(await plug({ ...fixed('10.0.9.11'), port_id: randomUUID() })).toBe(400);
    expect(await plug({ net_id: randomUUID() })).toBe(404);
    expect(await plug({ port_id: randomUUID() })).toBe(404);
    expect(await plug({ net_id: 'x' })).toBe(400);
    expect(await plug({ more: 1 })).toBe(400);
    expect((await ada.post(path, {})).status).toBe(200);
    expect((await ada.get(path)).body.interfaceAttachments).toHaveLength(2);
  });

  it('are on external networks for administrators only', async () => {
    const { id, path } = await bootWith('2.1');
    const interfaceAttachment = { net_id: ids.publicNetwork };
    expect((await at('2.1').post(path, { interfaceAttachment })).status).toBe(403);
    expect((await api.as('admin:p1', '2.1').post(path, { interfaceAttachment })).status).toBe(200);
    expect(await portsOf(id)).toHaveLength(2);
  });

  it('may be existing ports, which remain after they are detached', async () => {
    const port = await api.engine.embedded.networks.createPort(owner, { networkId: ids.network });
    const { ada, id, path, shown } = await bootWith('2.1', { port_id: port.id });
    expect(shown.port_id).toBe(port.id);
    const other = await bootWith('2.1');
    expect((await ada.post(other.path, { interfaceAttachment: { port_id: port.id } })).status).toBe(409);
    expect((await ada.get(`${other.path}/${port.id}`)).status).toBe(404);
    expect((await ada.get(`${path}/${randomUUID()}`)).status).toBe(404);
    const unplugged = await ada.delete(`${path}/${port.id}`);
    expect([unplugged.status, unplugged.body]).toEqual([202, undefined]);
    await api.idle();
    expect(await api.engine.embedded.networks.getPort(owner, port.id)).toMatchObject({ deviceId: '', hostId: '' });
    expect((await ada.get(`/servers/${id}`)).body.server.addresses).toEqual({});
    expect(await newestAction(api, id)).toMatchObject({ action: 'detach_interface', message: null });
  });

  it('are deleted if they were created for the server', async () => {
    const { ada, path, shown } = await bootWith('2.1');
    expect((await ada.delete(`${path}/${shown.port_id}`)).status).toBe(202);
    await api.idle();
    await expect(api.engine.embedded.networks.getPort(owner, shown.port_id)).rejects.toMatchObject({
      code: 'PORT_NOT_FOUND',
    });
    expect((await ada.get(path)).body).toEqual({ interfaceAttachments: [] });
  });

  it('that are not attached fail to be detached in the background', async () => {
    const { ada, id, path } = await bootWith('2.1');
    expect((await ada.delete(`${path}/${randomUUID()}`)).status).toBe(202);
    await api.idle();
    expect(await newestAction(api, id)).toMatchObject({ action: 'detach_interface', message: 'Error' });
    expect((await ada.get(path)).body.interfaceAttachments).toHaveLength(1);
  });

  it('are released if the machine rejects them', async () => {
    const failing = await largeCapacityApi();
    const ada = failing.as('ada:p1', '2.1');
    const { id } = await ada.boot();
    (coreOf(failing.engine).driver as SimulatedDriver).addRule({
      match: { verb: 'attach_interface' },
      fail: 'no slot',
    });
    const port = await failing.engine.embedded.networks.createPort(owner, { networkId: ids.network });
    const path = `/servers/${id}/os-interface`;
    expect((await ada.post(path, { interfaceAttachment: { net_id: ids.network } })).status).toBe(500);
    expect((await ada.post(path, { interfaceAttachment: { port_id: port.id } })).status).toBe(500);
    expect((await ada.get(path)).body).toEqual({ interfaceAttachments: [] });
    expect(await failing.engine.embedded.networks.getPort(owner, port.id)).toMatchObject({ deviceId: '' });
    expect(await failing.engine.embedded.networks.listPorts(owner, {})).toHaveLength(1);
    expect(await coreOf(failing.engine).worker.pending()).toBe(0);
    await failing.close();
  });

  it('cannot be changed on servers that are locked, suspended or of other projects', async () => {
    const { ada, id, path, shown } = await bootWith('2.1');
    const rejected = async (client: typeof ada, status: number) => {
      expect((await client.post(path, {})).status).toBe(status);
      expect((await client.delete(`${path}/${shown.port_id}`)).status).toBe(status);
    };
    await rejected(api.as('bob:p2'), 404);
    await rejected(api.as('rita:p1:reader'), 403);
    expect((await api.as('rita:p1:reader').get(path)).status).toBe(200);
    await ada.act(id, 'lock');
    await rejected(ada, 409);
    await ada.act(id, 'unlock');
    await ada.act(id, 'suspend');
    await rejected(ada, 409);
  });

  it('are listed as virtual interfaces until 2.43, with their network since 2.12', async () => {
    const { id, shown } = await bootWith('2.1');
    const path = `/servers/${id}/os-virtual-interfaces`;
    const old = { id: shown.port_id, mac_address: shown.mac_addr };
    expect((await at('2.11').get(path)).body).toEqual({ virtual_interfaces: [old] });
    expect((await at('2.12').get(path)).body).toEqual({ virtual_interfaces: [{ ...old, net_id: ids.network }] });
    expect((await at('2.43').get(path)).status).toBe(200);
    expect((await at('2.44').get(path)).status).toBe(404);
  });

  it('follow changes in the network service', async () => {
    const { ada, id, shown } = await bootWith('2.1');
    const { networks } = api.engine.embedded;
    const addresses = async () =>
      Object.values((await ada.get(`/servers/${id}/ips`)).body.addresses).flatMap((list: any) =>
        list.map((a: any) => a.addr),
      );
    await networks.updatePort(owner, shown.port_id, { fixedIps: [{ address: '10.0.77.7' }] });
    await eventually(async () => expect(await addresses()).toEqual(['10.0.77.7']));
    await networks.deletePort(owner, shown.port_id);
    await eventually(async () => expect(await addresses()).toEqual([]));
    const floating = await networks.createPort(owner, { networkId: ids.network });
    await networks.updatePort(owner, floating.id, { deviceId: id });
    await eventually(async () => expect(await addresses()).toEqual([floating.fixedIps[0]!.address]));
  });

  it('never cause a 500, for any request', async () => {
    const ada = at('2.100');
    const { id } = await ada.boot();
    const path = `/servers/${id}/os-interface`;
    await fc.assert(
      fc.asyncProperty(fc.anything(), fc.string({ minLength: 1 }), async (value, text) => {
        for (const interfaceAttachment of [
          value,
          { net_id: value },
          { port_id: value },
          { net_id: ids.network, fixed_ips: value },
        ])
          expect([200, 400, 404, 409]).toContain((await ada.post(path, { interfaceAttachment })).status);
        expect([400, 404]).toContain((await ada.get(`${path}/${encodeURIComponent(text)}`)).status);
      }),
      { numRuns: 30 },
    );
  });
});
