import type { FlavorCopy } from '../model/index.js';
import { isTruthyString } from '../resources/extra-specs/is-truthy-string.js';
import { RESOURCE_CLASSES } from '../resources/extra-specs/standard-names.js';
import { type CapabilityRequirement, capabilityRequirements } from './capabilities.js';
import { DISABLED_TRAIT } from './inventories.js';

type StringRecord = Readonly<Record<string, string>>;

/** What a flavor's extra specs require of a host. */
interface FlavorRequest {
  /** Amounts by resource class, which replace the flavor's amounts; 0 means none. */
  readonly resources: ReadonlyMap<string, number>;
  readonly required: readonly string[];
  readonly forbidden: readonly string[];
  /**
   * Whether groups of resources must come from different providers. If so, no host is valid, because each host is one
   * provider.
   */
  readonly separate: boolean;
  readonly capabilities: readonly CapabilityRequirement[];
}

/** The traits that a server requires of its host, and those that the host must not have. */
export interface RequestedTraits {
  readonly required: readonly string[];
  readonly forbidden: readonly string[];
}

/** Matches `resources:CLASS` and `trait:NAME`, also in a group such as `resources1:CLASS`. */
const REQUEST_KEY = /^(resources|trait)([a-zA-Z0-9_-]{1,64})?:(.*)$/s;
const AMOUNT_PATTERN = /^\s*\+?\d+\s*$/;

/** Flavor and image options that only hosts with a certain trait support. */
const TRAIT_OPTIONS: readonly {
  readonly spec: string;
  readonly property: string;
  readonly trait: (value: string) => string | undefined;
}[] = [
  {
    spec: 'os:secure_boot',
    property: 'os_secure_boot',
    trait: (value) => (value === 'required' ? 'COMPUTE_SECURITY_UEFI_SECURE_BOOT' : undefined),
  },
  {
    spec: 'hw:tpm_version',
    property: 'hw_tpm_version',
    trait: (value) => (value === '1.2' ? 'COMPUTE_SECURITY_TPM_1_2' : 'COMPUTE_SECURITY_TPM_2_0'),
  },
  {
    spec: 'hw:virtio_packed_ring',
    property: 'hw_virtio_packed_ring',
    trait: (value) => (isTruthyString(value) ? 'COMPUTE_NET_VIRTIO_PACKED' : undefined),
  },
  {
    spec: 'hw:pci_numa_affinity_policy',
    property: 'hw_pci_numa_affinity_policy',
    trait: (value) => (value === 'socket' ? 'COMPUTE_SOCKET_PCI_NUMA_AFFINITY' : undefined),
  },
];

function parseFlavorRequest(extraSpecs: StringRecord): FlavorRequest {
  const resources = new Map<string, number>();
  const groups = new Set<string>();
  const required: string[] = [];
  const forbidden: string[] = [];
  for (const [key, value] of Object.entries(extraSpecs)) {
    const [, kind, group, name] = REQUEST_KEY.exec(key) ?? [];
    if (name === undefined) continue;
    if (kind === 'trait') {
      if (value === 'required') required.push(name);
      if (value === 'forbidden') forbidden.push(name);
    } else if (AMOUNT_PATTERN.test(value) && (RESOURCE_CLASSES.has(name) || name.startsWith('CUSTOM_'))) {
      const amount = Number(value);
      resources.set(name, (resources.get(name) ?? 0) + amount);
      if (group !== undefined && amount > 0) groups.add(group);
    }
  }
  const needsSeparateProviders = groups.size > 1 && extraSpecs.group_policy !== 'none';
  return {
    resources,
    required,
    forbidden,
    separate: needsSeparateProviders,
    capabilities: capabilityRequirements(extraSpecs),
  };
}

const requestCache = new WeakMap<StringRecord, FlavorRequest>();

/** Returns what a flavor requires of a host, parsed once for each copy of the flavor. */
export function flavorRequest({ extraSpecs }: Pick<FlavorCopy, 'extraSpecs'>): FlavorRequest {
  let request = requestCache.get(extraSpecs);
  if (!request) {
    request = parseFlavorRequest(extraSpecs);
    requestCache.set(extraSpecs, request);
  }
  return request;
}

/** Returns the traits that image properties require. */
export function traitsOfImage(properties: StringRecord): readonly string[] {
  return Object.entries(properties).flatMap(([name, value]) =>
    name.startsWith('trait:') && value === 'required' ? [name.slice('trait:'.length)] : [],
  );
}

/** Returns the traits that a flavor and image properties request. */
export function requestedTraits(
  flavor: Pick<FlavorCopy, 'extraSpecs'>,
  imageProperties: StringRecord,
): RequestedTraits {
  const { required, forbidden } = flavorRequest(flavor);
  const optionTraits = TRAIT_OPTIONS.flatMap(({ spec, property, trait }) => {
    const value = flavor.extraSpecs[spec] ?? imageProperties[property];
    return value === undefined ? [] : (trait(value) ?? []);
  });
  return {
    required: [...required, ...traitsOfImage(imageProperties), ...optionTraits],
    forbidden: [...forbidden, DISABLED_TRAIT],
  };
}
