import type { Flavor, FlavorCopy } from '../../model/index.js';

/** Returns the fields of a flavor that a server record stores. */
export function copyFlavor(flavor: Flavor): FlavorCopy {
  const { id, name, vcpus, memoryMb, diskGb, ephemeralGb, swapMb, extraSpecs } = flavor;
  return { id, name, vcpus, memoryMb, diskGb, ephemeralGb, swapMb, extraSpecs };
}
