import { badRequest } from '../../errors/refusal.js';
import { checkCpuTopology, checkSerialPorts, realtimeCpusOf } from './cpu-options.js';
import { isYes } from './is-yes.js';
import { checkMemoryEncryption } from './memory-options.js';
import { numaTopologyOf } from './numa-topology.js';
import { type ImageFacts, type MadeOf, requested } from './requested-options.js';

const differ = (one: string, other: string) => one.trim().toLowerCase() !== other.trim().toLowerCase();
const differAsBooleans = (one: string, other: string) => isYes(one) !== isYes(other);

/** Options that may be set on one side, and on both sides only to the same. */
const AGREEING: readonly (readonly [name: string, differ: (one: string, other: string) => boolean])[] = [
  ['virtio_packed_ring', differAsBooleans],
  ['pmu', differAsBooleans],
  ['vif_multiqueue_enabled', differAsBooleans],
  ['ephemeral_encryption', differAsBooleans],
  ['machine_type', differ],
  ['pci_numa_affinity_policy', differ],
  ['maxphysaddr_mode', differ],
  ['maxphysaddr_bits', differ],
  ['tpm_version', differ],
  ['tpm_model', differ],
  ['viommu_model', differ],
];

function checkAgreement(of: MadeOf): void {
  for (const [name, disagree] of AGREEING) {
    const { ofFlavor, ofImage } = requested(of, name);
    if (ofFlavor !== undefined && ofImage !== undefined && disagree(ofFlavor, ofImage))
      throw badRequest(
        `Flavor ${of.flavor.name} has hw:${name} extra spec explicitly set to ${ofFlavor}, conflicting with image ${of.image.name ?? null} which has hw_${name} explicitly set to ${ofImage}.`,
      );
  }
}

/** No aliases of PCI devices are defined, so none can be requested. */
function checkPciAliases({ flavor }: MadeOf): void {
  const alias = flavor.extraSpecs['pci_passthrough:alias'];
  if (alias !== undefined) throw badRequest(`PCI alias ${alias.split(/[:,]/, 1).join('').trim()} is not defined`);
}

/** Whether anything that could be wrong is requested at all: most flavors and images have nothing of it. */
function requestsAnything({ flavor, image }: MadeOf): boolean {
  return (
    Object.keys(flavor.extraSpecs).length > 0 ||
    Object.keys(image.properties).some((name) => /^(hw_|trait:)/.test(name))
  );
}

/**
 * Throws 400 for extra specs of a flavor and properties of an image that make no sense, alone or together. Flavors may
 * have been given such specs by versions below 2.86, which do not check them.
 */
export function checkFlavorAndImage(flavor: MadeOf['flavor'], image: ImageFacts): void {
  const of = { flavor, image };
  if (!requestsAnything(of)) return;
  checkAgreement(of);
  checkMemoryEncryption(of);
  checkSerialPorts(of);
  realtimeCpusOf(of);
  checkCpuTopology(of);
  numaTopologyOf(of);
  checkPciAliases(of);
}

/** Throws 400 when another image would change the layout that a server was made with. */
export function checkSameTopology(flavor: MadeOf['flavor'], old: ImageFacts, next: ImageFacts): void {
  const [before, after] = [old, next].map((image) => JSON.stringify(numaTopologyOf({ flavor, image })));
  if (before !== after)
    throw badRequest(
      "An instance's NUMA topology cannot be changed as part of a rebuild. The image provided is invalid for this instance.",
    );
}
