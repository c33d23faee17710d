import { describe, expect, it } from 'vitest';
import { tuningOf } from '../tuning/tuning.js';
import { machineArguments } from './machine-arguments.js';
import { MachineFolder } from './machine-folder.js';
import type { MachineLayout } from './machine-layout.js';

const NO_PORTS = { buses: {}, ports: 0, queues: {}, cpu: null };
const FIRMWARE = {
  code: { file: '/code.fd', format: 'raw' },
  variables: { file: '/m/firmware.vars', format: 'raw' },
  needsSmm: true,
} as const;

function argumentsOf(
  extraSpecs: Readonly<Record<string, string>>,
  incoming?: MachineLayout,
  properties: Readonly<Record<string, string>> = {},
  configDrive: string | null = null,
): string {
  const sizes = { id: '1', name: 'm', vcpus: 2, memoryMb: 512, diskGb: 1, ephemeralGb: 0, swapMb: 0 };
  const shape = {
    serverId: 'id',
    acceleration: 'kvm',
    cpu: { mode: 'host-passthrough', model: 'host', properties: {}, visible: null },
    tuning: tuningOf({ ...sizes, extraSpecs }, properties),
    firmware: properties.hw_firmware_type === 'uefi' ? FIRMWARE : null,
    vcpus: 2,
    memoryMb: 512,
    kernel: null,
    disks: [
      { id: 'root', file: '/m/root.qcow2' },
      { id: 'swap', file: '/m/swap.qcow2' },
    ],
    configDrive,
    nics: [],
    agent: false,
  } as const;
  return machineArguments(shape, new MachineFolder('/m', undefined), { incoming, sandbox: true }).join(' ');
}

describe('the command line of a machine', () => {
  it('uses huge pages for memory on request', () => {
    expect(argumentsOf({})).not.toContain('memory-backend');
    const all = argumentsOf({ 'hw:mem_page_size': 'large' });
    expect(all).toContain('-machine pc,accel=kvm,memory-backend=ram ');
    expect(all).toContain('-m 512M -object memory-backend-memfd,id=ram,size=512M,hugetlb=on -');
    expect(argumentsOf({ 'hw:mem_page_size': '1GB' })).toContain('size=512M,hugetlb=on,hugetlbsize=1073741824');
  });

  it('hides the hypervisor, and limits the rate of random numbers', () => {
    const all = argumentsOf({
      'hw:hide_hypervisor_id': 'true',
      'hw_rng:rate_bytes': '64',
      'hw_rng:rate_period': '100',
    });
    expect(all).toContain('-cpu host,kvm=off ');
    expect(all).toContain('{"driver":"virtio-rng-pci","rng":"random","max-bytes":64,"period":100}');
  });

  it('connects a TPM to the process that emulates it', () => {
    const all = argumentsOf({ 'hw:tpm_version': '2.0', 'hw:tpm_model': 'tpm-crb' });
    expect(all).toContain(
      '-chardev socket,id=tpm,path=/m/tpm -tpmdev emulator,id=tpm,chardev=tpm -device tpm-crb,tpmdev=tpm',
    );
    expect(argumentsOf({})).not.toContain('tpm');
  });

  it('starts the machine paused, including when it waits for incoming memory', () => {
    const layout = { type: 'pc-i440fx-7.2', slots: { balloon: 12 }, units: {}, ...NO_PORTS };
    expect(argumentsOf({})).toMatch(/ -S( |$)/);
    expect(argumentsOf({}, layout)).toMatch(/ -S -incoming defer( |$)/);
    expect(argumentsOf({}, layout)).toContain('-machine pc-i440fx-7.2,accel=kvm ');
    expect(argumentsOf({}, layout)).toContain('{"driver":"virtio-balloon-pci","id":"balloon","addr":"c"}');
  });

  it('contains UEFI firmware with separate variables, protected by SMM if the firmware requires it', () => {
    const all = argumentsOf({}, undefined, { hw_firmware_type: 'uefi', hw_machine_type: 'q35' });
    expect(all).toContain('-machine q35,accel=kvm,pflash0=firmware,pflash1=firmware-variables,smm=on ');
    expect(all).toContain('"node-name":"firmware","driver":"raw","read-only":true');
    expect(all).toContain('"node-name":"firmware-variables","driver":"raw","read-only":false');
    expect(all).toContain('driver=cfi.pflash01,property=secure,value=on');
    expect(argumentsOf({})).not.toContain('flash');
  });

  it.each<Record<string, string>>([{}, { hw_boot_menu: 'true' }])(
    'lets firmware boot only from the first disk, with %o',
    (properties) => {
      const all = argumentsOf({}, undefined, properties, '/m/config.img');
      expect(all).toMatch(/ -boot strict=on(,menu=on)? /);
      expect(all.match(/"bootindex":\d+/g)).toEqual(['"bootindex":1']);
      expect(all).toContain('"id":"root","drive":"root","bootindex":1');
      expect(all).toContain('{"driver":"scsi-hd","bus":"scsi.0","drive":"config-drive","id":"config-2"}');
    },
  );

  it('contains hotplug ports on q35, with disks on them', () => {
    const all = argumentsOf({}, undefined, { hw_machine_type: 'q35' });
    expect(all.match(/pcie-root-port/g)).toHaveLength(10);
    expect(all).toContain('"id":"root","drive":"root","bootindex":1,"bus":"port-0"');
    expect(argumentsOf({})).not.toContain('pcie-root-port');
  });

  it('contains the ports of the machine whose memory it receives, with devices on the same ports', () => {
    const layout = {
      type: 'pc-q35-7.2',
      slots: { root: 0 },
      units: {},
      buses: { root: 'port-7' },
      ports: 12,
      queues: {},
      cpu: null,
    };
    const all = argumentsOf({}, layout, { hw_machine_type: 'q35' });
    expect(all.match(/pcie-root-port/g)).toHaveLength(12);
    expect(all).toContain('"id":"root","drive":"root","bootindex":1,"bus":"port-7","addr":"0"');
  });
});
