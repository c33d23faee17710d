import type { Flavor } from '@apistrata/compute-engine';
import { since, until } from '@apistrata/microversion';
import { field, view } from '@apistrata/microversion/router';
import { described } from '@apistrata/microversion/schema';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';
import * as type from '../schemas/reply-types.js';
import { linksTo } from './links.js';

/** Descriptions of fields that occur in several places. */
export const flavorTexts = {
  extraSpecs: 'Extra specs of the flavor, as key-value pairs. Present if the policy allows the caller to read them.',
  flavor: 'A flavor.',
  name: 'Name of the flavor. Unique.',
  id: 'ID of the flavor: a string. Generated if absent or `auto` in the create request.',
  ram: 'Memory, in MiB.',
  vcpus: 'Number of virtual CPUs.',
  disk: 'Root disk, in GiB. 0 means the size of the image, or a root disk on a volume.',
  ephemeral: 'Ephemeral disk, in GiB.',
  swap: 'Swap disk, in MiB. In responses, no swap disk is an empty string until 2.74 and 0 since 2.75.',
  osFlavorAccessIsPublic: 'Whether all projects can use the flavor. If false, only projects with access can use it.',
  rxtxFactor: 'Network bandwidth relative to other flavors. Without effect: only a removed networking service used it.',
  description: 'Description of the flavor, or null.',
  flavors: 'The flavors of this page.',
  flavorsLinks: 'Link to the next page. Absent on the last page.',
} as const;

const full = (get: (flavor: Flavor) => number) => field<Flavor, ComputeCall, z.ZodInt>(type.integer, get);
const text = (get: (flavor: Flavor) => string) => field<Flavor, ComputeCall, z.ZodString>(z.string(), get);

/** The cached JSON of a flavor depends on the base URL of the request, and on whether extra specs are shown. */
const memo = (call: ComputeCall) => `${call.selfBase} ${call.can('os_compute_api:os-flavor-extra-specs:index')}`;

export const flavorSummary = view<Flavor, ComputeCall>(
  {
    id: described(
      flavorTexts.id,
      text((f) => f.id),
    ),
    links: linksTo('flavors'),
    name: described(
      flavorTexts.name,
      text((f) => f.name),
    ),
    description: since(
      '2.55',
      described(
        flavorTexts.description,
        field(type.nullableText, (f) => f.description),
      ),
    ),
  },
  { memo: (call) => call.selfBase },
);

export const flavorDetail = view<Flavor, ComputeCall>(
  {
    id: described(
      flavorTexts.id,
      text((f) => f.id),
    ),
    name: described(
      flavorTexts.name,
      text((f) => f.name),
    ),
    links: linksTo('flavors'),
    vcpus: described(
      flavorTexts.vcpus,
      full((f) => f.vcpus),
    ),
    ram: described(
      flavorTexts.ram,
      full((f) => f.memoryMb),
    ),
    disk: described(
      flavorTexts.disk,
      full((f) => f.diskGb),
    ),
    swap: [
      until(
        '2.74',
        described(
          flavorTexts.swap,
          field(z.union([z.int(), z.literal('')]), (f) => f.swapMb || ''),
        ),
      ),
      since(
        '2.75',
        described(
          flavorTexts.swap,
          full((f) => f.swapMb),
        ),
      ),
    ],
    'OS-FLV-EXT-DATA:ephemeral': described(
      flavorTexts.ephemeral,
      full((f) => f.ephemeralGb),
    ),
    'os-flavor-access:is_public': described(
      flavorTexts.osFlavorAccessIsPublic,
      field(z.boolean(), (f) => f.isPublic),
    ),
    'OS-FLV-DISABLED:disabled': until(
      '2.101',
      described(
        'Whether the flavor is disabled. Always false.',
        field(z.boolean(), (f) => f.disabled),
      ),
    ),
    rxtx_factor: until(
      '2.101',
      described(
        flavorTexts.rxtxFactor,
        field(z.union([z.number(), z.literal('')]), (f) => f.rxtxFactor || ''),
      ),
    ),
    description: since(
      '2.55',
      described(
        flavorTexts.description,
        field(type.nullableText, (f) => f.description),
      ),
    ),
    extra_specs: since(
      '2.61',
      described(
        flavorTexts.extraSpecs,
        field(type.textMap.optional(), (f, call) =>
          call.can('os_compute_api:os-flavor-extra-specs:index') ? f.extraSpecs : undefined,
        ),
      ),
    ),
  },
  { memo },
);
