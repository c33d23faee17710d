import { ifMissing } from '../../catalogs/catalog-error.js';
import type { Image } from '../../catalogs/image-catalog.js';
import type { Context } from '../../context.js';
import type { Core } from '../../core.js';
import { badRequest } from '../../errors.js';
import type { Flavor, FlavorCopy } from '../../model/index.js';

type Specs = Readonly<Record<string, string>>;

/** A flavor's spec and an image's property that speak of the same thing, and when they contradict each other. */
interface Pair {
  readonly spec: string;
  readonly property: string;
  readonly contradicts: (spec: string, property: string) => boolean;
}

const differ = (one: string, other: string) => one.trim().toLowerCase() !== other.trim().toLowerCase();
const TRUE = /^(1|t|true|on|y|yes)$/i;
const differAsBooleans = (one: string, other: string) => TRUE.test(one) !== TRUE.test(other);
/** The image may not ask for more than the flavor allows. */
const beyond = (most: string, requested: string) => Number(requested) > Number(most);

/** Some may be set on one side only, some have to agree, some give the image a bound. */
const pairs: readonly Pair[] = [
  ...[
    ['hw:numa_nodes', 'hw_numa_nodes'],
    ['hw:cpu_realtime_mask', 'hw_cpu_realtime_mask'],
  ].map(([spec, property]) => ({ spec: spec!, property: property!, contradicts: () => true })),
  ...[
    ['hw:cpu_thread_policy', 'hw_cpu_thread_policy'],
    ['hw:machine_type', 'hw_machine_type'],
    ['hw:pci_numa_affinity_policy', 'hw_pci_numa_affinity_policy'],
    ['hw:maxphysaddr_mode', 'hw_maxphysaddr_mode'],
    ['hw:maxphysaddr_bits', 'hw_maxphysaddr_bits'],
    ['hw:tpm_version', 'hw_tpm_version'],
    ['hw:tpm_model', 'hw_tpm_model'],
    ['hw:viommu_model', 'hw_viommu_model'],
  ].map(([spec, property]) => ({ spec: spec!, property: property!, contradicts: differ })),
  ...[
    ['hw:mem_encryption', 'hw_mem_encryption'],
    ['hw:vif_multiqueue_enabled', 'hw_vif_multiqueue_enabled'],
    ['hw:virtio_packed_ring', 'hw_virtio_packed_ring'],
    ['hw:locked_memory', 'hw_locked_memory'],
    ['hw:ephemeral_encryption', 'hw_ephemeral_encryption'],
  ].map(([spec, property]) => ({ spec: spec!, property: property!, contradicts: differAsBooleans })),
  ...['sockets', 'cores', 'threads'].map((part) => ({
    spec: `hw:cpu_max_${part}`,
    property: `hw_cpu_${part}`,
    contradicts: beyond,
  })),
  // Shared CPUs cannot be made one's own by the image.
  {
    spec: 'hw:cpu_policy',
    property: 'hw_cpu_policy',
    contradicts: (spec, property) => spec !== 'dedicated' && property === 'dedicated',
  },
  // An image may choose its pages only where the flavor leaves the choice.
  {
    spec: 'hw:mem_page_size',
    property: 'hw_mem_page_size',
    contradicts: (spec, property) => !['large', 'any'].includes(spec) && differ(spec, property),
  },
];

/** Throws 400 when a flavor and the properties of an image exclude each other. */
export function checkImageProperties(flavor: Pick<FlavorCopy, 'extraSpecs'>, properties: Specs): void {
  for (const { spec, property, contradicts } of pairs) {
    const [wanted, asked] = [flavor.extraSpecs[spec], properties[property]];
    if (wanted !== undefined && asked !== undefined && contradicts(wanted, asked)) {
      throw badRequest(`The flavor's ${spec}=${wanted} contradicts the image's ${property}=${asked}.`);
    }
  }
}

/** An image that the caller may use now. Throws 400 for any other. */
export async function activeImage({ catalogs }: Core, { caller }: Context, id: string): Promise<Image> {
  const image = await catalogs.images.get(caller, id).catch(ifMissing);
  if (!image) throw badRequest(`Image ${id} could not be found.`);
  if (image.status !== 'active') throw badRequest(`Image ${id} is not active.`);
  return image;
}

/** Throws 400 when a server has less memory than its image needs. */
export function checkMemory(flavor: Pick<Flavor, 'memoryMb'>, minRamMb: number): void {
  if (flavor.memoryMb < minRamMb) throw badRequest("Flavor's memory is too small for requested image.");
}

const GIB = 1024 ** 3;

/** Throws 400 when a local root disk is too small for its image. A flavor without one sets no bound. */
export function checkLocalDisk({ diskGb }: Pick<Flavor, 'diskGb'>, image: Image): void {
  if (diskGb === 0) return;
  if ((image.sizeBytes ?? 0) > diskGb * GIB) {
    throw badRequest(`Flavor's disk is too small for requested image: it has ${diskGb} GiB.`);
  }
  if (diskGb < image.minDiskGb) {
    throw badRequest(
      `Flavor's disk is smaller than the minimum size specified in image metadata. Flavor disk is ${diskGb}, minimum size is ${image.minDiskGb}.`,
    );
  }
}
