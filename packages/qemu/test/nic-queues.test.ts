import { describe, expect, it } from 'vitest';
import { nicRequirementsOf } from '../src/machine/connect-nics.js';
import { createNicBackend, createNicDevice, machineArguments } from '../src/machine/machine-arguments.js';
import { MachineFolder } from '../src/machine/machine-folder.js';
import { type MachineLayout, validateLayout } from '../src/machine/machine-layout.js';
import { createTapBackend } from '../src/network/tap-backend.js';
import { tuningOf } from '../src/tuning/tuning.js';

const sizes = { id: '1', name: 'm', vcpus: 2, memoryMb: 512, diskGb: 1, ephemeralGb: 0, swapMb: 0 };
const tuning = tuningOf({ ...sizes, extraSpecs: { 'hw:vif_multiqueue_enabled': 'true' } }, {});

describe('the arguments of an interface', () => {
  const nic = { id: 'nic-1', mac: '02:00:00:00:00:01', mtu: 1450, model: 'virtio-net-pci' } as const;

  it.each([
    [1, false, { type: 'tap', ifname: 'aqt1', script: 'no', downscript: 'no' }, {}],
    [4, false, { queues: 4 }, { mq: true, vectors: 10 }],
    [1, true, { vhost: true }, {}],
    [256, true, { queues: 256, vhost: true }, { mq: true, vectors: 514 }],
  ])('contain the number of queues and vhost-net: %i, %s', (queues, vhost, netdev, device) => {
    const shape = { ...nic, backend: createTapBackend('aqt1', queues, vhost) };
    expect(createNicBackend(shape)).toMatchObject({ type: 'tap', id: 'net-nic-1', ...netdev });
    const plain = createNicDevice({ ...nic, backend: createTapBackend('aqt1', 1, false) });
    expect(createNicDevice(shape)).toEqual({ ...plain, ...device });
  });

  it('are the same at the start of a machine, where the backend is not JSON', () => {
    const shape = {
      serverId: 'id',
      acceleration: 'kvm',
      cpu: { mode: 'host-passthrough', model: 'host', properties: {}, visible: null },
      tuning,
      firmware: null,
      vcpus: 2,
      memoryMb: 512,
      kernel: null,
      disks: [],
      configDrive: null,
      nics: [{ ...nic, backend: createTapBackend('aqt1', 2, true) }],
      agent: false,
    } as const;
    const folder = new MachineFolder('/m', undefined);
    expect(machineArguments(shape, folder, { incoming: undefined, sandbox: true }).join(' ')).toContain(
      '-netdev tap,ifname=aqt1,script=no,downscript=no,queues=2,vhost=on,id=net-nic-1 -device {"driver":"virtio-net-pci","id":"nic-1"',
    );
  });
});

describe('the requirements of interfaces', () => {
  const interfaces = [{ portId: 'a' }, { portId: 'b' }];
  const layout = { type: 'pc-i440fx-7.2', slots: {}, units: {}, buses: {}, ports: 0, queues: {}, cpu: null };

  it('depend on the flavor, except for a machine that takes over a guest with the queues that it has', () => {
    expect(nicRequirementsOf(interfaces, tuning, undefined)).toEqual({ queues: [2, 2], virtio: true });
    expect(nicRequirementsOf(interfaces, tuning, { ...layout, queues: { 'nic-b': 4 } })).toEqual({
      queues: [1, 4],
      virtio: true,
    });
    const old = validateLayout({ ...layout, queues: undefined } as unknown as MachineLayout);
    expect(nicRequirementsOf(interfaces, tuning, old).queues).toEqual([1, 1]);
  });

  it.each([0, 257, 1.5, '2,x'])('exclude a layout with %s queues', (count) => {
    const queues = { 'nic-a': count as number };
    expect(() => validateLayout({ ...layout, queues })).toThrow('unsupported');
  });
});
