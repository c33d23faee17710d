import { SimulatedDriver } from '@apistrata/compute-engine/drivers';
import { describe, expect, it } from 'vitest';
import { ids } from '../api-under-test.js';
import { sharedByTests } from '../shared-by-tests.js';
import { largeCapacityApi } from './large-capacity-api.js';

/** A driver without diagnostics. */
class SilentDriver extends SimulatedDriver {
  override async diagnostics(): Promise<never> {
    return null as never;
  }
}

describe('diagnostics, topology and password of a server', () => {
  const api = sharedByTests(largeCapacityApi);

  const onNetwork = { networks: [{ uuid: ids.network }] };

  it('include diagnostics in the format of the driver until 2.47, and in a standard format since 2.48', async () => {
    const { id } = await api.as('ada:p1').boot(onNetwork);
    const path = `/servers/${id}/diagnostics`;
    const flat = await api.as('admin:p1', '2.47').get(path);
    expect(flat.status).toBe(200);
    for (const key of ['cpu0_time', 'memory', 'vda_read', 'vda_read_req', 'vda_write', 'vda_write_req', 'vda_errors'])
      expect(flat.body).toHaveProperty(key, expect.any(Number));
    for (const way of ['rx', 'tx'])
      for (const what of ['', '_packets', '_errors', '_drop']) expect(flat.body).toHaveProperty(`vnet0_${way}${what}`);
    const standard = (await api.as('admin:p1', '2.48').get(path)).body;
    expect(standard).toMatchObject({
      config_drive: false,
      driver: 'libvirt',
      state: 'running',
      num_cpus: 1,
      num_disks: 1,
      num_nics: 1,
      memory_details: { maximum: 512 },
    });
    expect(Object.keys(standard.nic_details[0]).sort()).toEqual([
      'mac_address',
      'rx_drop',
      'rx_errors',
      'rx_octets',
      'rx_packets',
      'rx_rate',
      'tx_drop',
      'tx_errors',
      'tx_octets',
      'tx_packets',
      'tx_rate',
    ]);
  });

  it('include diagnostics that return 403 to members, and 409 while the server is stopped', async () => {
    const ada = api.as('ada:p1', '2.48');
    const { id } = await ada.boot();
    const path = `/servers/${id}/diagnostics`;
    expect((await ada.get(path)).status).toBe(403);
    await ada.act(id, 'os-stop');
    for (const version of ['2.47', '2.48']) expect((await api.as('admin:p1', version).get(path)).status).toBe(409);
  });

  it('include diagnostics that return 501 if the driver does not support them', async () => {
    const silent = await largeCapacityApi({ engine: { driver: (clock) => new SilentDriver({ clock }) } });
    const { id } = await silent.as('ada:p1').boot();
    for (const version of ['2.47', '2.48'])
      expect((await silent.as('admin:p1', version).get(`/servers/${id}/diagnostics`)).status).toBe(501);
    expect(silent.errors).toEqual([]);
    await silent.close();
  });

  it('include no topology unless the flavor requests one', async () => {
    const ada = api.as('ada:p1', '2.78');
    const { id } = await ada.boot();
    const path = `/servers/${id}/topology`;
    expect((await ada.get(path)).body).toEqual({ nodes: [], pagesize_kb: null });
    expect((await api.as('ada:p1', '2.77').get(path)).status).toBe(404);
    expect((await api.as('bob:p2', '2.78').get(path)).status).toBe(404);
  });

  it('include the nodes of the flavor, and for administrators their placement on the host', async () => {
    const flavor = { id: 'numa', name: 'numa', vcpus: 4, memoryMb: 1000, diskGb: 1 };
    const extraSpecs = { 'hw:numa_nodes': '2', 'hw:cpu_policy': 'dedicated', 'hw:mem_page_size': '2MB' };
    const numa = await largeCapacityApi({
      preset: { ...(await import('@apistrata/compute-engine')).defaultPreset, flavors: [{ ...flavor, extraSpecs }] },
    });
    const { id } = await numa.as('ada:p1').boot({ flavorRef: 'numa' });
    const path = `/servers/${id}/topology`;
    const nodes = [
      { memory_mb: 500, siblings: [], vcpu_set: [0, 1] },
      { memory_mb: 500, siblings: [], vcpu_set: [2, 3] },
    ];
    expect((await numa.as('ada:p1', '2.78').get(path)).body).toEqual({ nodes, pagesize_kb: 2048 });
    expect((await numa.as('admin:p1', '2.78').get(path)).body.nodes).toEqual([
      { ...nodes[0], host_node: 0, cpu_pinning: { 0: 0, 1: 1 } },
      { ...nodes[1], host_node: 1, cpu_pinning: { 2: 2, 3: 3 } },
    ]);
    expect(numa.errors).toEqual([]);
    await numa.close();
  });

  it('include the password that the guest has posted until it is cleared', async () => {
    const ada = api.as('ada:p1');
    const { id } = await ada.boot();
    const path = `/servers/${id}/os-server-password`;
    expect((await ada.get(path)).body).toEqual({ password: '' });
    const context = {
      caller: { userId: 'guest', projectId: 'p1', roles: ['member'] },
      isAdmin: false,
      requestId: 'req-1',
    };
    await api.engine.servers.change(context, id, 'update', () => ({ guestPassword: 'c2VjcmV0' }));
    expect((await ada.get(path)).body).toEqual({ password: 'c2VjcmV0' });
    expect((await api.as('rita:p1:reader').get(path)).status).toBe(200);
    expect((await api.as('rita:p1:reader').delete(path)).status).toBe(403);
    expect((await ada.delete(path)).status).toBe(204);
    expect((await ada.get(path)).body).toEqual({ password: '' });
    expect((await api.as('bob:p2').get(path)).status).toBe(404);
    expect((await api.as('bob:p2').delete(path)).status).toBe(404);
  });
});
