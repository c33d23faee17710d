import { cidrOf, formatCidr, parseCidr } from '@apistrata/compute-engine/catalogs';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { derived, fixed, required, settable } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import { put } from '../service/route.js';
import { badRequest, conflict, notFound } from '../service/service-error.js';
import type { Wire } from '../service/wire.js';
import { anyId, count, flag, text } from '../service/wire-types.js';
import { named, standardFields } from './standard-fields.js';

const prefix = z.string().refine((cidr) => parseCidr(cidr) !== undefined, 'is not a valid IP subnet');
const Prefixes = z.object({ prefixes: z.array(prefix) });
const admin = { admin: 'write' } as const;
const LONGEST = { 4: 32, 6: 128 } as const;

const poolsOf = (call: Call) => call.cloud.documents.table<Doc>('network/subnetpools');

/** Returns an unused prefix of a pool. Throws the original's errors if there is none. */
export async function prefixFromPool(call: Call, poolId: unknown, prefixLength: unknown): Promise<string> {
  if (poolId === null || poolId === undefined)
    throw badRequest('Bad subnets request: a subnetpool must be specified in the absence of a cidr.', 'BadRequest');
  const pool = poolsOf(call).get(String(poolId));
  if (!pool) throw notFound(`Subnet pool ${poolId} could not be found.`, 'SubnetPoolNotFound');
  const length = Number(prefixLength ?? pool.default_prefixlen);
  if (length < Number(pool.min_prefixlen) || length > Number(pool.max_prefixlen))
    throw badRequest(`Unable to allocate subnet with prefix length ${length}.`, 'MinPrefixSubnetAllocationError');
  const all = await call.cloud.catalogs.networks.listSubnets({ ...call.caller, isAdmin: true });
  const usedCidrs = all.map(({ cidr }) => cidrOf(cidr));
  for (const text of pool.prefixes as readonly string[]) {
    const { version, first, last } = cidrOf(text);
    const size = 2n ** BigInt(LONGEST[version] - length);
    for (let start = first; start + size - 1n <= last; start += size) {
      const conflicting = usedCidrs.find(
        (other) => other.version === version && other.first < start + size && other.last >= start,
      );
      if (!conflicting) return formatCidr({ version, first: start, last: start + size - 1n, prefix: length });
    }
  }
  throw conflict(
    `Failed to allocate subnet: Insufficient prefix space to allocate subnet size /${length}.`,
    'SubnetAllocationError',
  );
}

/** Returns the fields derived from prefixes, which must have one IP version. */
function fromPrefixes(prefixes: readonly string[]): Wire {
  const cidrs = prefixes.map(cidrOf);
  const [version, ...others] = new Set(cidrs.map((cidr) => cidr.version));
  if (version === undefined || others.length > 0)
    throw badRequest('A subnetpool needs prefixes of one IP version.', 'PrefixVersionMismatch');
  return { ip_version: version, prefixes: cidrs.map(formatCidr).sort() };
}

export const subnetPools: ResourceSpec = {
  path: 'subnetpools',
  one: 'subnetpool',
  many: 'subnetpools',
  title: 'Subnet pool',
  tags: true,
  fields: () => ({
    ...standardFields,
    ...named,
    name: required(settable(text)),
    prefixes: required(settable(z.array(prefix).min(1), undefined, { filter: false })),
    default_quota: settable(count.nullable(), null),
    ip_version: derived(),
    default_prefixlen: settable(count),
    min_prefixlen: settable(count),
    max_prefixlen: settable(count),
    is_default: settable(flag, false, admin),
    shared: fixed(flag, false, admin),
    address_scope_id: settable(anyId.nullable(), null),
  }),
  creating(_call, { prefixes, default_prefixlen, min_prefixlen, max_prefixlen }) {
    const derivedPrefixes = fromPrefixes(prefixes as readonly string[]);
    const longest = LONGEST[derivedPrefixes.ip_version as 4 | 6];
    const min = min_prefixlen ?? (longest === 32 ? 8 : 64);
    return {
      ...derivedPrefixes,
      min_prefixlen: min,
      max_prefixlen: max_prefixlen ?? longest,
      default_prefixlen: default_prefixlen ?? min,
    };
  },
  changing(_call, before, { prefixes }) {
    if (prefixes === undefined) return undefined;
    const lost = (before.prefixes as readonly string[]).find((text) => !(prefixes as readonly string[]).includes(text));
    if (lost)
      throw badRequest(
        `Illegal subnetpool update : Existing prefixes must be a subset of the new prefixes.`,
        'IllegalSubnetPoolPrefixUpdate',
      );
    return fromPrefixes(prefixes as readonly string[]);
  },
  async removing(call, { id }) {
    const users = call.cloud.documents.table<Wire>('network/subnets');
    const all = new Set((await call.cloud.catalogs.networks.listSubnets(call.caller)).map((subnet) => subnet.id));
    if ([...users].some(([subnet, { subnetpool_id }]) => subnetpool_id === id && all.has(subnet)))
      throw conflict(
        `Unable to complete operation on subnetpool ${id}: Subnet pool has existing allocations.`,
        'SubnetPoolDeleteError',
      );
  },
  routes: (resource) =>
    ['add_prefixes', 'remove_prefixes'].map((action) =>
      put(`/v2.0/subnetpools/:id/${action}`, async (call) => {
        const before = await resource.find(call, call.param('id'), 'change');
        const { prefixes } = call.body(Prefixes);
        const previous = before.prefixes as readonly string[];
        const now =
          action === 'add_prefixes'
            ? [...new Set([...previous, ...prefixes])]
            : previous.filter((p) => !prefixes.includes(p));
        resource.storage.update(call, before, fromPrefixes(now));
        return { prefixes: now };
      }),
    ),
};
