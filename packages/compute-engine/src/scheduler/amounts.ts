import type { Claim, FlavorCopy } from '../model/index.js';
import { isTruthyString } from '../resources/extra-specs/is-truthy-string.js';
import { flavorRequest } from './requested-offer.js';

/** The amounts of capacity in a claim. Memory is in MiB, disk in GiB. */
export type ResourceAmounts = Omit<Claim, 'host'>;

/** The fields of a server that determine its required capacity. */
export interface CapacityFields {
  /** Whether the root disk is on the host; false if the server boots from a volume. */
  readonly localRoot: boolean;
  readonly imageProperties: Readonly<Record<string, string>>;
}

/** The resource classes whose allocations are columns of the table `nodes`. */
export const COLUMN_CLASSES: ReadonlySet<string> = new Set(['VCPU', 'MEMORY_MB', 'DISK_GB']);

/**
 * Returns the capacity that a server with a flavor needs. Its extra specs `resources:CLASS` replace the flavor's
 * amounts; dedicated processors (`PCPU`) replace shared ones.
 */
export function requiredAmounts(flavor: FlavorCopy, { localRoot, imageProperties }: CapacityFields): ResourceAmounts {
  const diskGb = (localRoot ? flavor.diskGb : 0) + flavor.ephemeralGb + Math.ceil(flavor.swapMb / 1024);
  const { resources } = flavorRequest(flavor);
  const needsEncryption = [flavor.extraSpecs['hw:mem_encryption'], imageProperties.hw_mem_encryption].some(
    isTruthyString,
  );
  if (resources.size === 0 && !needsEncryption) return { vcpus: flavor.vcpus, memoryMb: flavor.memoryMb, diskGb };
  const otherResources = [...resources].filter(([name, amount]) => amount > 0 && !COLUMN_CLASSES.has(name));
  if (needsEncryption && !resources.has('MEM_ENCRYPTION_CONTEXT')) otherResources.push(['MEM_ENCRYPTION_CONTEXT', 1]);
  return {
    vcpus: resources.get('VCPU') ?? (resources.has('PCPU') ? 0 : flavor.vcpus),
    memoryMb: resources.get('MEMORY_MB') ?? flavor.memoryMb,
    diskGb: resources.get('DISK_GB') ?? diskGb,
    ...(otherResources.length > 0 && { resources: Object.fromEntries(otherResources) }),
  };
}

/** Returns the resource classes and their amounts, without amounts of zero. */
export function amountsByClass({
  vcpus,
  memoryMb,
  diskGb,
  resources = {},
}: ResourceAmounts): readonly (readonly [string, number])[] {
  return Object.entries({ VCPU: vcpus, MEMORY_MB: memoryMb, DISK_GB: diskGb, ...resources }).filter(
    ([, amount]) => amount > 0,
  );
}
