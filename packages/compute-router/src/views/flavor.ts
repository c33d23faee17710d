import type { Flavor } from '@apistrata/compute-engine';
import { since, until } from '@apistrata/microversion';
import { view } from '@apistrata/microversion/router';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';
import * as type from '../schemas/reply-types.js';
import { field, flag, integer, nullableText, text } from './fields.js';
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
  swap: 'Swap disk, in MiB. If there is none, responses contain an empty string until 2.74 and 0 since 2.75.',
  osFlavorAccessIsPublic: 'Whether all projects can use the flavor. If false, only projects with access can use it.',
  rxtxFactor: 'Network bandwidth relative to other flavors. Has no effect: only a removed networking service used it.',
  description: 'Description of the flavor, or null.',
  flavors: 'The flavors of this page.',
  flavorsLinks: 'Link to the next page. Absent on the last page.',
} as const;

/** The cached JSON of a flavor depends on the base URL of the request, and on whether extra specs are shown. */
const memo = (call: ComputeCall) => `${call.selfBase} ${call.can('os_compute_api:os-flavor-extra-specs:index')}`;

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
  { memo: (call) => call.selfBase },
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
  { memo },
);
