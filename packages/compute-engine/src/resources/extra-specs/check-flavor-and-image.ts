import { badRequest } from '../../errors/rejection.js';
import { checkCpuTopology, checkSerialPorts, realtimeCpusOf } from './cpu-options.js';
import { isTruthyString } from './is-truthy-string.js';
import { checkMemoryEncryption } from './memory-options.js';
import { numaTopologyOf } from './numa-topology.js';
import { type ImageFacts, type OptionSources, requestedValuesOf } from './requested-options.js';

const areDifferent = (one: string, other: string) => one.trim().toLowerCase() !== other.trim().toLowerCase();
const areDifferentBooleans = (one: string, other: string) => isTruthyString(one) !== isTruthyString(other);

/** Options that both the flavor and the image may set, but only to the same value. */
const CONSISTENT_OPTIONS: readonly (readonly [name: string, differ: (one: string, other: string) => boolean])[] = [
  ['virtio_packed_ring', areDifferentBooleans],
  ['pmu', areDifferentBooleans],
  ['vif_multiqueue_enabled', areDifferentBooleans],
  ['ephemeral_encryption', areDifferentBooleans],
  ['machine_type', areDifferent],
  ['pci_numa_affinity_policy', areDifferent],
  ['maxphysaddr_mode', areDifferent],
  ['maxphysaddr_bits', areDifferent],
  ['tpm_version', areDifferent],
  ['tpm_model', areDifferent],
  ['viommu_model', areDifferent],
];

function checkConsistency(sources: OptionSources): void {
  for (const [name, areDifferent] of CONSISTENT_OPTIONS) {
    const { flavorValue, imageValue } = requestedValuesOf(sources, name);
    if (flavorValue !== undefined && imageValue !== undefined && areDifferent(flavorValue, imageValue))
      throw badRequest(
        `Flavor ${sources.flavor.name} has hw:${name} extra spec explicitly set to ${flavorValue}, conflicting with image ${sources.image.name ?? null} which has hw_${name} explicitly set to ${imageValue}.`,
      );
  }
}

/** Throws 400 if a flavor requests PCI devices, because no PCI aliases are defined. */
function checkPciAliases({ flavor }: OptionSources): void {
  const alias = flavor.extraSpecs['pci_passthrough:alias'];
  if (alias !== undefined) throw badRequest(`PCI alias ${alias.split(/[:,]/, 1).join('').trim()} is not defined`);
}

/** Returns whether a flavor or an image has any options to check. Most flavors and images have none. */
function hasOptions({ flavor, image }: OptionSources): boolean {
  return (
    Object.keys(flavor.extraSpecs).length > 0 ||
    Object.keys(image.properties).some((name) => /^(hw_|trait:)/.test(name))
  );
}

/**
 * Throws 400 if a flavor's extra specs or an image's properties are invalid, alone or in combination. Microversions
 * below 2.86 do not validate extra specs when a client sets them.
 */
export function checkFlavorAndImage(flavor: OptionSources['flavor'], image: ImageFacts): void {
  const sources = { flavor, image };
  if (!hasOptions(sources)) return;
  checkConsistency(sources);
  checkMemoryEncryption(sources);
  checkSerialPorts(sources);
  realtimeCpusOf(sources);
  checkCpuTopology(sources);
  numaTopologyOf(sources);
  checkPciAliases(sources);
}

/** Throws 400 if the new image would change the server's NUMA topology. */
export function checkSameTopology(flavor: OptionSources['flavor'], old: ImageFacts, next: ImageFacts): void {
  const [before, after] = [old, next].map((image) => JSON.stringify(numaTopologyOf({ flavor, image })));
  if (before !== after)
    throw badRequest(
      "An instance's NUMA topology cannot be changed as part of a rebuild. The image provided is invalid for this instance.",
    );
}
