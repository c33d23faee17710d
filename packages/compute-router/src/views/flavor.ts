import type { Flavor } from '@apistrata/compute-engine';
import { since, until } from '@apistrata/microversion';
import { view } from '@apistrata/microversion-router';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';
import * as type from '../schemas/reply-types.js';
import { field, flag, integer, nullableText, text } from './fields.js';
import { linksTo } from './links.js';

/** OpenAPI descriptions that several fields share. */
export const flavorTexts = {
  extraSpecs:
    'Extra specs of the flavor, as key-value pairs. Present only if the policy allows the caller to read them.',
  flavor: 'A flavor.',
  name: 'Unique name of the flavor.',
  id: 'ID of the flavor. If the ID in the create request is missing or null, the API generates a UUID.',
  ram: 'Memory, in MiB.',
  vcpus: 'Number of virtual CPUs.',
  disk: 'Size of the root disk, in GiB. If 0, the root disk has the size of the image or is a volume.',
  ephemeral: 'Size of the ephemeral disk, in GiB. Default: 0.',
  swap: 'Size of the swap disk, in MiB. Default: 0. Without a swap disk, responses contain an empty string until 2.74, and 0 since 2.75.',
  osFlavorAccessIsPublic:
    'Whether all projects can use the flavor. If false, only projects with access can use it. Default: true.',
  rxtxFactor:
    'Network bandwidth relative to other flavors. Has no effect, because only a former networking service used it.',
  description: 'Description of the flavor, or null.',
  flavors: 'The flavors on this page.',
  flavorsLinks: 'Link to the next page. Absent if this page is not full.',
} as const;

/**
 * Returns the cache key for the JSON of a flavor, which depends on the request's base URL and on whether the caller
 * sees extra specs.
 */
const cacheKeyOf = (call: ComputeCall) => `${call.selfBase} ${call.can('os_compute_api:os-flavor-extra-specs:index')}`;

export const flavorSummary = view<Flavor, ComputeCall>(
  {
    id: text(flavorTexts.id, (f) => f.id),
    links: linksTo('flavors'),
    name: text(flavorTexts.name, (f) => f.name),
    description: since(
      '2.55',
      nullableText(flavorTexts.description, (f) => f.description),
    ),
  },
  { cacheKey: (call) => call.selfBase },
);

export const flavorDetail = view<Flavor, ComputeCall>(
  {
    id: text(flavorTexts.id, (f) => f.id),
    name: text(flavorTexts.name, (f) => f.name),
    links: linksTo('flavors'),
    vcpus: integer(flavorTexts.vcpus, (f) => f.vcpus),
    ram: integer(flavorTexts.ram, (f) => f.memoryMb),
    disk: integer(flavorTexts.disk, (f) => f.diskGb),
    swap: [
      until(
        '2.74',
        field(flavorTexts.swap, z.union([z.int(), z.literal('')]), (f) => f.swapMb || ''),
      ),
      since(
        '2.75',
        integer(flavorTexts.swap, (f) => f.swapMb),
      ),
    ],
    'OS-FLV-EXT-DATA:ephemeral': integer(flavorTexts.ephemeral, (f) => f.ephemeralGb),
    'os-flavor-access:is_public': flag(flavorTexts.osFlavorAccessIsPublic, (f) => f.isPublic),
    'OS-FLV-DISABLED:disabled': until(
      '2.101',
      flag('Whether the flavor is disabled. Always false.', (f) => f.disabled),
    ),
    rxtx_factor: until(
      '2.101',
      field(flavorTexts.rxtxFactor, z.union([z.number(), z.literal('')]), (f) => f.rxtxFactor || ''),
    ),
    description: since(
      '2.55',
      nullableText(flavorTexts.description, (f) => f.description),
    ),
    extra_specs: since(
      '2.61',
      field(flavorTexts.extraSpecs, type.textMap.optional(), (f, call) =>
        call.can('os_compute_api:os-flavor-extra-specs:index') ? f.extraSpecs : undefined,
      ),
    ),
  },
  { cacheKey: cacheKeyOf },
);
