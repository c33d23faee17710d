import { badRequest } from '../../errors/rejection.js';
import { checkCpuTopology, checkSerialPorts, realtimeCpusOf } from './cpu-options.js';
import { isTruthyString } from './is-truthy-string.js';
import { checkMemoryEncryption } from './memory-options.js';
import { numaTopologyOf } from './numa-topology.js';
import { type ImageFacts, type OptionSources, requested } from './requested-options.js';

const differ = (one: string, other: string) => one.trim().toLowerCase() !== other.trim().toLowerCase();
const areDifferentBooleans = (one: string, other: string) => isTruthyString(one) !== isTruthyString(other);

/** Options that may be set in the flavor or the image, and in both only with the same value. */
const AGREEING_OPTIONS: readonly (readonly [name: string, differ: (one: string, other: string) => boolean])[] = [
  ['virtio_packed_ring', areDifferentBooleans],
  ['pmu', areDifferentBooleans],
  ['vif_multiqueue_enabled', areDifferentBooleans],
  ['ephemeral_encryption', areDifferentBooleans],
  ['machine_type', differ],
  ['pci_numa_affinity_policy', differ],
  ['maxphysaddr_mode', differ],
  ['maxphysaddr_bits', differ],
  ['tpm_version', differ],
  ['tpm_model', differ],
  ['viommu_model', differ],
];

function checkAgreement(sources: OptionSources): void {
  for (const [name, disagree] of AGREEING_OPTIONS) {
    const { flavorValue, imageValue } = requested(sources, name);
    if (flavorValue !== undefined && imageValue !== undefined && disagree(flavorValue, imageValue))
      throw badRequest(
        `Flavor ${sources.flavor.name} has hw:${name} extra spec explicitly set to ${flavorValue}, conflicting with image ${sources.image.name ?? null} which has hw_${name} explicitly set to ${imageValue}.`,
      );
  }
}

/** Throws 400 if a flavor requests PCI devices, because no aliases are defined for them. */
function checkPciAliases({ flavor }: OptionSources): void {
  const alias = flavor.extraSpecs['pci_passthrough:alias'];
  if (alias !== undefined) throw badRequest(`PCI alias ${alias.split(/[:,]/, 1).join('').trim()} is not defined`);
}

/** Returns whether anything needs to be checked: most flavors and images have none of these options. */
function hasRequests({ flavor, image }: OptionSources): boolean {
  return (
    Object.keys(flavor.extraSpecs).length > 0 ||
    Object.keys(image.properties).some((name) => /^(hw_|trait:)/.test(name))
  );
}

/**
 * Throws 400 for invalid extra specs of a flavor and properties of an image, alone or in combination. Versions
 * below 2.86 do not validate extra specs when they are set.
 */
export function checkFlavorAndImage(flavor: OptionSources['flavor'], image: ImageFacts): void {
  const sources = { flavor, image };
  if (!hasRequests(sources)) return;
  checkAgreement(sources);
  checkMemoryEncryption(sources);
  checkSerialPorts(sources);
  realtimeCpusOf(sources);
  checkCpuTopology(sources);
  numaTopologyOf(sources);
  checkPciAliases(sources);
}

/** Throws 400 if another image would change the server's NUMA topology. */
export function checkSameTopology(flavor: OptionSources['flavor'], old: ImageFacts, next: ImageFacts): void {
  const [before, after] = [old, next].map((image) => JSON.stringify(numaTopologyOf({ flavor, image })));
  if (before !== after)
    throw badRequest(
      "An instance's NUMA topology cannot be changed as part of a rebuild. The image provided is invalid for this instance.",
    );
}
