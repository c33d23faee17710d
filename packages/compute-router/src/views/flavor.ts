import type { Flavor } from '@apistrata/compute-engine';
import { since, until } from '@apistrata/microversion';
import { field, view } from '@apistrata/microversion/router';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';
import * as type from '../schemas/reply-types.js';
import { linksTo } from './links.js';

const full = (get: (flavor: Flavor) => number) => field<Flavor, ComputeCall, z.ZodInt>(type.integer, get);
const text = (get: (flavor: Flavor) => string) => field<Flavor, ComputeCall, z.ZodString>(z.string(), get);

/** The cached JSON of a flavor depends on the base URL of the request, and on whether extra specs are shown. */
const memo = (call: ComputeCall) => `${call.selfBase} ${call.can('os_compute_api:os-flavor-extra-specs:index')}`;

export const flavorSummary = view<Flavor, ComputeCall>(
  {
    id: text((f) => f.id),
    links: linksTo('flavors'),
    name: text((f) => f.name),
    description: since(
      '2.55',
      field(type.nullableText, (f) => f.description),
    ),
  },
  { memo: (call) => call.selfBase },
);

export const flavorDetail = view<Flavor, ComputeCall>(
  {
    id: text((f) => f.id),
    name: text((f) => f.name),
    links: linksTo('flavors'),
    vcpus: full((f) => f.vcpus),
    ram: full((f) => f.memoryMb),
    disk: full((f) => f.diskGb),
    swap: [
      until(
        '2.74',
        field(z.union([z.int(), z.literal('')]), (f) => f.swapMb || ''),
      ),
      since(
        '2.75',
        full((f) => f.swapMb),
      ),
    ],
    'OS-FLV-EXT-DATA:ephemeral': full((f) => f.ephemeralGb),
    'os-flavor-access:is_public': field(z.boolean(), (f) => f.isPublic),
    'OS-FLV-DISABLED:disabled': until(
      '2.101',
      field(z.boolean(), (f) => f.disabled),
    ),
    rxtx_factor: until(
      '2.101',
      field(z.union([z.number(), z.literal('')]), (f) => f.rxtxFactor || ''),
    ),
    description: since(
      '2.55',
      field(type.nullableText, (f) => f.description),
    ),
    extra_specs: since(
      '2.61',
      field(type.textMap.optional(), (f, call) =>
        call.can('os_compute_api:os-flavor-extra-specs:index') ? f.extraSpecs : undefined,
      ),
    ),
  },
  { memo },
);
