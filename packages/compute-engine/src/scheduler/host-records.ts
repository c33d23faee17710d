import { randomUUID } from 'node:crypto';
import type { New } from '@apistrata/record-store';
import { COMMON_TRAITS } from '../model/common-traits.js';
import type { CpuInfo, DriverOffer, Node, Service } from '../model/index.js';
import type { HostSeed } from '../preset/preset.js';
import { createInventory } from './inventories.js';

/** Creates the record of a service that this process represents. */
export function createServiceRecord(host: string, binary: string, now: number): New<Service> {
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

/** Returns example processors for a host that declares none, with one core per virtual CPU. */
function exampleCpu(cores: number): CpuInfo {
  return {
    arch: 'x86_64',
    model: 'Nehalem',
    vendor: 'Intel',
    features: ['pge', 'clflush'],
    topology: { cores, threads: 1, sockets: 1 },
  };
}

/**
 * Returns the inventories, traits and capabilities that a host and its driver declare. The host's declarations take
 * precedence.
 */
export function combineOffers(
  seed: HostSeed,
  offer: DriverOffer = {},
): Pick<Node, 'inventories' | 'traits' | 'capabilities' | 'cpuInfo'> {
  const declaredInventories = Object.entries(seed.inventories ?? {}).map(
    ([name, given]) => [name, createInventory(given)] as const,
  );
  return {
    inventories: { ...offer.inventories, ...Object.fromEntries(declaredInventories) },
    traits: [...new Set([...COMMON_TRAITS, ...(offer.traits ?? []), ...(seed.traits ?? [])])].sort(),
    capabilities: { ...offer.capabilities, ...seed.capabilities },
    cpuInfo: seed.cpuInfo ?? offer.cpuInfo ?? exampleCpu(seed.vcpus),
  };
}

/**
 * Creates the record of a compute node.
 *
 * @param hostIp address of the host
 * @param offer additional inventories, traits and capabilities from the driver
 */
export function createNodeRecord(seed: HostSeed, hostIp: string, now: number, offer?: DriverOffer): New<Node> {
  const { name, vcpus, memoryMb } = seed;
  return {
    id: randomUUID(),
    host: name,
    hypervisorHostname: seed.hypervisorHostname ?? name,
    hypervisorType: seed.hypervisorType ?? 'QEMU',
    hypervisorVersion: seed.hypervisorVersion ?? 8_002_002,
    hostIp,
    vcpus,
    memoryMb,
    localGb: seed.diskGb,
    cpuAllocationRatio: seed.cpuAllocationRatio ?? 16,
    ramAllocationRatio: seed.ramAllocationRatio ?? 1.5,
    diskAllocationRatio: seed.diskAllocationRatio ?? 1,
    ...combineOffers(seed, offer),
    process: null,
    createdAt: now,
  };
}
