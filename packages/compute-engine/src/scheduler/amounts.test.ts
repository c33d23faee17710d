import { expect, it } from 'vitest';
import type { FlavorCopy } from '../model/index.js';
import { amountsByClass, requiredAmounts } from './amounts.js';

const plain = { vcpus: 2, memoryMb: 512, diskGb: 10, ephemeralGb: 1, swapMb: 100, extraSpecs: {} };
const flavorWith = (extraSpecs: Record<string, string>) => ({ ...plain, extraSpecs }) as unknown as FlavorCopy;
const local = { localRoot: true, imageProperties: {} };

it('counts the root disk only if it is on the host', () => {
  expect(requiredAmounts(flavorWith({}), local)).toEqual({ vcpus: 2, memoryMb: 512, diskGb: 12 });
  expect(requiredAmounts(flavorWith({}), { ...local, localRoot: false }).diskGb).toBe(2);
});

it.each<[Record<string, string>, object]>([
  [
    { 'resources:VCPU': '0', 'resources:CUSTOM_A': '1' },
    { MEMORY_MB: 512, DISK_GB: 12, CUSTOM_A: 1 },
  ],
  [
    { 'resources:MEMORY_MB': '1', 'resources:DISK_GB': '3' },
    { VCPU: 2, MEMORY_MB: 1, DISK_GB: 3 },
  ],
  [{ 'resources:PCPU': '2' }, { MEMORY_MB: 512, DISK_GB: 12, PCPU: 2 }],
  [{ 'hw:mem_encryption': 'true' }, { VCPU: 2, MEMORY_MB: 512, DISK_GB: 12, MEM_ENCRYPTION_CONTEXT: 1 }],
])('replaces the amounts of the flavor with its extra specs %j', (extraSpecs, expected) => {
  expect(Object.fromEntries(amountsByClass(requiredAmounts(flavorWith(extraSpecs), local)))).toEqual(expected);
});

it('requests encrypted memory for an image that needs it', () => {
  const image = { ...local, imageProperties: { hw_mem_encryption: 'True' } };
  expect(requiredAmounts(flavorWith({}), image).resources).toEqual({ MEM_ENCRYPTION_CONTEXT: 1 });
});
