import type { Image } from '@apistrata/catalogs';
import { badRequest } from '../../errors/refusal.js';
import type { Flavor, FlavorCopy } from '../../model/index.js';
import { checkDisk } from '../active-image.js';

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

/** Specs and properties that are called the same but for their first separator. */
const pairsOf = (names: readonly string[], contradicts: Pair['contradicts']): readonly Pair[] =>
  names.map((name) => ({ spec: `hw:${name}`, property: `hw_${name}`, contradicts }));

/** Some may be set on one side only, some have to agree, some give the image a bound. */
const pairs: readonly Pair[] = [
  ...pairsOf(['numa_nodes', 'cpu_realtime_mask'], () => true),
  ...pairsOf(
    [
      'cpu_thread_policy',
      'machine_type',
      'pci_numa_affinity_policy',
      'maxphysaddr_mode',
      'maxphysaddr_bits',
      'tpm_version',
      'tpm_model',
      'viommu_model',
    ],
    differ,
  ),
  ...pairsOf(
    ['mem_encryption', 'vif_multiqueue_enabled', 'virtio_packed_ring', 'locked_memory', 'ephemeral_encryption'],
    differAsBooleans,
  ),
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
    const [ofFlavor, ofImage] = [flavor.extraSpecs[spec], properties[property]];
    if (ofFlavor !== undefined && ofImage !== undefined && contradicts(ofFlavor, ofImage)) {
      throw badRequest(`The flavor's ${spec}=${ofFlavor} contradicts the image's ${property}=${ofImage}.`);
    }
  }
}

const GIB = 1024 ** 3;

/** Throws 400 when a local root disk is too small for its image. A flavor without one sets no bound. */
export function checkLocalDisk({ diskGb }: Pick<Flavor, 'diskGb'>, image: Image): void {
  if (diskGb === 0) return;
  if ((image.sizeBytes ?? 0) > diskGb * GIB) {
    throw badRequest(`Flavor's disk is too small for requested image: it has ${diskGb} GiB.`);
  }
  checkDisk(diskGb, image);
}
