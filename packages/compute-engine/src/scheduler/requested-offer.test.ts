import { expect, it } from 'vitest';
import { flavorRequest, requestedTraits } from './requested-offer.js';

const requestOf = (extraSpecs: Record<string, string>) => flavorRequest({ extraSpecs });

it('sums the amounts of a resource class in all groups', () => {
  const { resources } = requestOf({ 'resources:VGPU': '1', 'resources1:VGPU': '2', 'resources_net:CUSTOM_A': ' 3 ' });
  expect([...resources]).toEqual([
    ['VGPU', 3],
    ['CUSTOM_A', 3],
  ]);
});

it('ignores unknown resource classes and invalid amounts and traits, as Nova does', () => {
  const { resources, required, forbidden } = requestOf({
    'resources:NONSENSE': '1',
    'resources:VGPU': '-1',
    'resources:CUSTOM_A': 'many',
    'trait:HW_CPU_X86_AVX': 'preferred',
  });
  expect([resources.size, required, forbidden]).toEqual([0, [], []]);
});

it.each([
  [{ 'resources1:VGPU': '1', 'resources2:VGPU': '1' }, true],
  [{ 'resources1:VGPU': '1', 'resources2:VGPU': '1', group_policy: 'isolate' }, true],
  [{ 'resources1:VGPU': '1', 'resources2:VGPU': '1', group_policy: 'none' }, false],
  [{ 'resources1:VGPU': '1', 'resources2:VGPU': '0' }, false],
  [{ 'resources:VGPU': '1', 'resources1:VGPU': '1' }, false],
])('determines from %j whether groups need separate providers: %s', (extraSpecs, separate) => {
  expect(requestOf(extraSpecs as Record<string, string>).separate).toBe(separate);
});

it('parses the extra specs of a flavor once', () => {
  const flavor = { extraSpecs: { 'resources:VGPU': '1' } };
  expect(flavorRequest(flavor)).toBe(flavorRequest(flavor));
});

it.each<[Record<string, string>, Record<string, string>, readonly string[]]>([
  [{}, {}, []],
  [{ 'os:secure_boot': 'required' }, {}, ['COMPUTE_SECURITY_UEFI_SECURE_BOOT']],
  [{}, { os_secure_boot: 'optional' }, []],
  [{ 'hw:tpm_version': '2.0' }, {}, ['COMPUTE_SECURITY_TPM_2_0']],
  [{}, { hw_tpm_version: '1.2' }, ['COMPUTE_SECURITY_TPM_1_2']],
  [{ 'hw:virtio_packed_ring': 'true' }, {}, ['COMPUTE_NET_VIRTIO_PACKED']],
  [{ 'hw:pci_numa_affinity_policy': 'socket' }, {}, ['COMPUTE_SOCKET_PCI_NUMA_AFFINITY']],
  [
    { 'trait:CUSTOM_A': 'required' },
    { 'trait:CUSTOM_B': 'required', 'trait:CUSTOM_C': 'no' },
    ['CUSTOM_A', 'CUSTOM_B'],
  ],
])('derives required traits from the extra specs %j and the image properties %j', (extraSpecs, image, required) => {
  expect(requestedTraits({ extraSpecs }, image)).toEqual({ required, forbidden: ['COMPUTE_STATUS_DISABLED'] });
});
