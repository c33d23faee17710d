import { randomUUID } from 'node:crypto';
import type { New } from '@apistrata/record-store';
import type { Node, Service } from '../model/index.js';
import type { HostSeed } from '../preset/preset.js';

/** A service that this process stands for. */
export function serviceRecord(host: string, binary: string, now: number): New<Service> {
  return {
    id: randomUUID(),
    host,
    binary,
    disabled: false,
    disabledReason: null,
    forcedDown: false,
    lastSeenAt: now,
    embedded: true,
    createdAt: now,
    updatedAt: null,
  };
}

/** @param hostIp address of the host */
export function nodeRecord(seed: HostSeed, hostIp: string, now: number): New<Node> {
  const { name, vcpus, memoryMb } = seed;
  return {
    id: randomUUID(),
    host: name,
    hypervisorHostname: seed.hypervisorHostname ?? name,
    hypervisorType: seed.hypervisorType ?? 'QEMU',
    hypervisorVersion: seed.hypervisorVersion ?? 8_002_002,
    hostIp,
    cpuInfo: {
      arch: 'x86_64',
      model: 'Nehalem',
      vendor: 'Intel',
      features: ['pge', 'clflush'],
      topology: { cores: vcpus, threads: 1, sockets: 1 },
    },
    vcpus,
    memoryMb,
    localGb: seed.diskGb,
    cpuAllocationRatio: seed.cpuAllocationRatio ?? 16,
    ramAllocationRatio: seed.ramAllocationRatio ?? 1.5,
    diskAllocationRatio: seed.diskAllocationRatio ?? 1,
    process: null,
    createdAt: now,
  };
}
