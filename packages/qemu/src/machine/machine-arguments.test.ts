import { describe, expect, it } from 'vitest';
import { tuningOf } from '../tuning/tuning.js';
import { machineArguments } from './machine-arguments.js';
import { MachineFolder } from './machine-folder.js';
import type { MachineLayout } from './machine-layout.js';

function argumentsOf(extraSpecs: Readonly<Record<string, string>>, incoming?: MachineLayout): string {
  const sizes = { id: '1', name: 'm', vcpus: 2, memoryMb: 512, diskGb: 1, ephemeralGb: 0, swapMb: 0 };
  const shape = {
    serverId: 'id',
    acceleration: 'kvm',
    tuning: tuningOf({ ...sizes, extraSpecs }, {}),
    vcpus: 2,
    memoryMb: 512,
    kernel: null,
    disks: [],
    configDrive: null,
    nics: [],
    agent: false,
  } as const;
  return machineArguments(shape, new MachineFolder('/m', undefined), { incoming, sandbox: true }).join(' ');
}

describe('the command line of a machine', () => {
  it('has memory of huge pages where that is wished', () => {
    expect(argumentsOf({})).not.toContain('memory-backend');
    const all = argumentsOf({ 'hw:mem_page_size': 'large' });
    expect(all).toContain('-machine pc,accel=kvm,memory-backend=ram ');
    expect(all).toContain('-m 512M -object memory-backend-memfd,id=ram,size=512M,hugetlb=on -');
    expect(argumentsOf({ 'hw:mem_page_size': '1GB' })).toContain('size=512M,hugetlb=on,hugetlbsize=1073741824');
  });

  it('hides the hypervisor, and bounds random numbers', () => {
    const all = argumentsOf({
      'hw:hide_hypervisor_id': 'true',
      'hw_rng:rate_bytes': '64',
      'hw_rng:rate_period': '100',
    });
    expect(all).toContain('-cpu host,kvm=off ');
    expect(all).toContain('{"driver":"virtio-rng-pci","rng":"random","max-bytes":64,"period":100}');
  });

  it('has the machine rest until it is told to go, also one that waits for its memory', () => {
    const layout = { type: 'pc-i440fx-7.2', slots: { balloon: 12 }, units: {} };
    expect(argumentsOf({})).toMatch(/ -S( |$)/);
    expect(argumentsOf({}, layout)).toMatch(/ -S -incoming defer( |$)/);
    expect(argumentsOf({}, layout)).toContain('-machine pc-i440fx-7.2,accel=kvm ');
    expect(argumentsOf({}, layout)).toContain('{"driver":"virtio-balloon-pci","id":"balloon","addr":"c"}');
  });
});
