import type { Flavor, FlavorCopy } from '../../model/index.js';

/** The flavor as a server keeps it. */
export function flavorCopy(flavor: Flavor): FlavorCopy {
  const { id, name, vcpus, memoryMb, diskGb, ephemeralGb, swapMb, extraSpecs } = flavor;
  return { id, name, vcpus, memoryMb, diskGb, ephemeralGb, swapMb, extraSpecs };
}
