import { type Flavor, Rejection } from '@apistrata/compute-engine';
import type { FlavorQuery } from '@apistrata/compute-engine/api';
import { since, until } from '@apistrata/microversion';
import { described, one, query } from '@apistrata/microversion/schema';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';
import { nextLink, pageSize } from '../http/paging.js';
import { operation } from '../operation.js';
import { commonTexts } from '../reference/common-texts.js';
import { resource } from '../reference/resource.js';
import { rejectedSince275 } from '../schemas/extra-parameters.js';
import { collectionLinks } from '../schemas/reply-types.js';
import { limitSchema } from '../schemas/types.js';
import { flavorDetail, flavorSummary, flavorTexts } from '../views/flavor.js';

export const flavorDocs = resource({
  tag: 'flavors',
  parameters: {
    id: 'ID of the flavor (not its name). In paths below `os-extra_specs`, the key of the extra spec.',
  },
});

const sortKeys = [
  'created_at',
  'description',
  'disabled',
  'ephemeral_gb',
  'flavorid',
  'id',
  'is_public',
  'memory_mb',
  'name',
  'root_gb',
  'swap',
  'updated_at',
  'vcpu_weight',
  'vcpus',
] as const;

const SORT_KEY_DESCRIPTION = 'Field to sort by. By default, flavors are sorted by ID.';

const listQuery = query(
  {
    limit: described(commonTexts.limit, one(limitSchema)),
    marker: described(commonTexts.marker, one(z.string())),
    is_public: described(
      'Filters flavors by visibility: `true` for the flavors that the project can use, `false` for all private flavors, `none` for all flavors. Administrators only; ignored for other callers. Default: `true`.',
      one(z.string()),
    ),
    minRam: described('Returns only flavors with at least this amount of memory, in MiB.', one(z.string())),
    minDisk: described('Returns only flavors with at least this root disk size, in GiB.', one(z.string())),
    sort_dir: described('Sort direction: `asc` or `desc`. Default: `asc`.', one(z.enum(['asc', 'desc']))),
    sort_key: [
      until(
        '2.101',
        described(SORT_KEY_DESCRIPTION, one<z.ZodType<FlavorQuery['sortKey']>>(z.enum([...sortKeys, 'rxtx_factor']))),
      ),
      since('2.102', described(SORT_KEY_DESCRIPTION, one<z.ZodType<FlavorQuery['sortKey']>>(z.enum(sortKeys)))),
    ],
    name: since('2.102', described('Filters flavors by name. The value is a regular expression.', one(z.string()))),
  },
  { extra: rejectedSince275 },
);

type ListQuery = ReturnType<typeof listQuery.parse>['value'];

const VISIBILITY_VALUES: ReadonlyMap<string, boolean | null> = new Map<string, boolean | null>([
  ['none', null],
  ...['true', 't', 'yes', 'y', 'on', '1'].map((text) => [text, true] as const),
  ...['false', 'f', 'no', 'n', 'off', '0'].map((text) => [text, false] as const),
]);

function parseIsPublic(text: string | undefined): boolean | null | undefined {
  if (text === undefined) return undefined;
  const isPublic = VISIBILITY_VALUES.get(text.trim().toLowerCase());
  if (isPublic === undefined) throw new Rejection('BAD_REQUEST', `Invalid is_public filter [${text}]`);
  return isPublic;
}

function parseMinimum(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[+-]?\d+$/.test(text.trim())) throw new Rejection('BAD_REQUEST', `Invalid ${name} filter [${text}]`);
  return Number(text);
}

async function pageOf(call: ComputeCall, requested: ListQuery) {
  const size = pageSize(call, requested.limit);
  const filter: FlavorQuery = {
    limit: size,
    marker: requested.marker,
    isPublic: call.context.isAdmin ? parseIsPublic(requested.is_public) : undefined,
    minMemoryMb: parseMinimum('minRam', requested.minRam),
    minDiskGb: parseMinimum('minDisk', requested.minDisk),
    name: requested.name,
    sortKey: requested.sort_key,
    sortDirection: requested.sort_dir,
  };
  const flavors = await call.engine.flavors.list(call.context, filter);
  return { flavors, flavors_links: nextLink(call, size, flavors, ({ id }: Flavor) => id) as never };
}

export const flavorOperations = [
  operation({
    ...flavorDocs,
    name: 'listFlavors',
    method: 'GET',
    path: '/flavors',
    summary: 'List flavors',
    description:
      'Lists the IDs and names of the flavors that the caller can use. These are public flavors, and private flavors to which the project has access.',
    status: 200,
    errors: [400],
    query: listQuery,
    reply: {
      flavors: described(flavorTexts.flavors, [flavorSummary]),
      flavors_links: described(flavorTexts.flavorsLinks, collectionLinks.optional()),
    },
    run: (call) => pageOf(call, call.query),
  }),
  operation({
    ...flavorDocs,
    name: 'listFlavorsDetail',
    method: 'GET',
    path: '/flavors/detail',
    summary: 'List flavors with details',
    description: 'Lists flavors with details. Extra specs are included if the policy allows the caller to read them.',
    status: 200,
    errors: [400],
    query: listQuery,
    reply: {
      flavors: described(flavorTexts.flavors, [flavorDetail]),
      flavors_links: described(flavorTexts.flavorsLinks, collectionLinks.optional()),
    },
    run: (call) => pageOf(call, call.query),
  }),
  operation({
    ...flavorDocs,
    name: 'showFlavor',
    method: 'GET',
    path: '/flavors/{id}',
    summary: 'Show a flavor',
    description: 'Shows a flavor. A private flavor is visible only to projects with access and to administrators.',
    status: 200,
    errors: [404],
    reply: { flavor: described(flavorTexts.flavor, flavorDetail) },
    run: async ({ engine, context, params }) => ({ flavor: await engine.flavors.get(context, params.id) }),
  }),
];
