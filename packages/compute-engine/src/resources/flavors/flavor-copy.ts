import type { Flavor, FlavorCopy } from '../../model/index.js';

/** Returns the part of a flavor that is stored with a server. */
export function flavorCopy(flavor: Flavor): FlavorCopy {
  const { id, name, vcpus, memoryMb, diskGb, ephemeralGb, swapMb, extraSpecs } = flavor;
  return { id, name, vcpus, memoryMb, diskGb, ephemeralGb, swapMb, extraSpecs };
}
