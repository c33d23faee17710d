import { cidrOf, formatCidr } from '@apistrata/compute-engine/catalogs';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { derived, fixed, required, settable } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import { put } from '../service/route.js';
import { badRequest, conflict } from '../service/service-error.js';
import type { Wire } from '../service/wire.js';
import { count, flag } from '../service/wire-types.js';
import { missingResource, networkError } from './network-errors.js';
import { areContained, compactPrefixes, prefixesOverlap } from './pool-prefixes.js';
import { isAccessible } from './sharing.js';
import { usersOfSubnetPool } from './sharing-users.js';
import { nameFields, resourceNames, standardFields } from './standard-fields.js';
import { prefix, uniqueList, uuid } from './value-types.js';

const PrefixesBody = z.object({ prefixes: z.array(prefix) });
const adminWritable = { admin: 'write' } as const;
const MAX_PREFIX_LENGTHS = { 4: 32, 6: 128 } as const;

const LENGTH_FIELDS = ['min_prefixlen', 'max_prefixlen', 'default_prefixlen'] as const;

const poolsOf = (call: Call) => call.cloud.documents.table<Doc>('network/subnetpools');

/** Returns the ID of a new subnet's pool: the pool that the body names, or the default pool of the IP version. */
export function resolvePoolId(call: Call, { subnetpool_id, use_default_subnetpool, ip_version }: Wire): unknown {
  if (use_default_subnetpool !== true) return subnetpool_id;
  const badSubnet = (message: string) => networkError('BadRequest', `Bad subnets request: ${message}.`);
  if (subnetpool_id) throw badSubnet('subnetpool_id and use_default_subnetpool cannot both be specified');
  const pool = [...poolsOf(call).values()].find((one) => one.is_default === true && one.ip_version === ip_version);
  if (!pool) throw badSubnet(`No default subnetpool found for IPv${ip_version}`);
  return pool.id;
}

/** Returns an unused prefix from a subnet pool. Throws Neutron's errors if the pool has no unused prefix. */
export async function findFreePrefix(call: Call, poolId: unknown, prefixLength: unknown): Promise<string> {
  if (poolId === null || poolId === undefined)
    throw badRequest('Bad subnets request: a subnetpool must be specified in the absence of a cidr.', 'BadRequest');
  const pool = poolsOf(call).get(String(poolId));
  if (!pool || !isAccessible(call, pool)) throw missingResource(subnetPools.title, String(poolId));
  const length = Number(prefixLength ?? pool.default_prefixlen);
  if (length < Number(pool.min_prefixlen) || length > Number(pool.max_prefixlen))
    throw badRequest(`Unable to allocate subnet with prefix length ${length}.`, 'MinPrefixSubnetAllocationError');
  const all = await call.cloud.catalogs.networks.listSubnets(call.elevatedCaller);
  const usedCidrs = all.map(({ cidr }) => cidrOf(cidr));
  for (const poolPrefix of pool.prefixes as readonly string[]) {
    const { version, first, last } = cidrOf(poolPrefix);
    const prefixSize = 2n ** BigInt(MAX_PREFIX_LENGTHS[version] - length);
    for (let start = first; start + prefixSize - 1n <= last; start += prefixSize) {
      const overlappingCidr = usedCidrs.find(
        (other) => other.version === version && other.first < start + prefixSize && other.last >= start,
      );
      if (!overlappingCidr) return formatCidr({ version, first: start, last: start + prefixSize - 1n, prefix: length });
    }
  }
  throw conflict(
    `Failed to allocate subnet: Insufficient prefix space to allocate subnet size /${length}.`,
    'SubnetAllocationError',
  );
}

/** Returns the IP version and the compacted prefixes of a pool. Throws if the prefixes have different IP versions. */
function prefixFields(prefixes: readonly string[]): Wire {
  const cidrs = prefixes.map(cidrOf);
  const [version, ...others] = new Set(cidrs.map((cidr) => cidr.version));
  if (version === undefined || others.length > 0)
    throw badRequest('A subnetpool needs prefixes of one IP version.', 'PrefixVersionMismatch');
  return { ip_version: version, prefixes: compactPrefixes(prefixes).map(formatCidr) };
}

/** Rejects a pool if its address scope has another IP version, or contains another pool whose prefixes overlap. */
async function checkAddressScope(call: Call, pool: Wire): Promise<void> {
  const { id = null, address_scope_id, ip_version } = pool;
  if (address_scope_id === null || address_scope_id === undefined) return;
  const scopeId = String(address_scope_id);
  const scope = call.cloud.documents.table<Doc>('network/address_scopes').get(scopeId);
  if (!scope || !isAccessible(call, scope)) throw missingResource('Address scope', scopeId);
  if (scope.ip_version !== ip_version)
    throw networkError(
      'IllegalSubnetPoolIpVersionAssociationToAddressScope',
      `Illegal subnetpool association: subnetpool ${id} cannot associate with address scope ${scopeId} because subnetpool ip_version is not ${scope.ip_version}.`,
    );
  const ownPrefixes = compactPrefixes(pool.prefixes as readonly string[]);
  const others = [...poolsOf(call).values()].filter((other) => other.address_scope_id === scopeId && other.id !== id);
  const usedPrefixes = others.flatMap(({ prefixes }) => (prefixes as readonly string[]).map(cidrOf));
  if (ownPrefixes.some((prefix) => usedPrefixes.some((other) => prefixesOverlap(prefix, other))))
    throw networkError(
      'AddressScopePrefixConflict',
      'Failed to associate address scope: subnetpools within an address scope must have unique prefixes.',
    );
}

/** Rejects a change to a subnet pool whose address scope belongs to another project. */
function rejectForeignScope(call: Call, { id, address_scope_id }: Doc): void {
  const scope = call.cloud.documents.table<Doc>('network/address_scopes').get(String(address_scope_id));
  if (scope && !call.isAdmin && scope.project_id !== call.caller.projectId)
    throw networkError(
      'IllegalSubnetPoolUpdate',
      `Illegal subnetpool update : subnetpool ${id} cannot be updated when associated with shared address scope ${scope.id}.`,
    );
}

/** Rejects a second default subnet pool for an IP version. */
function rejectSecondDefault(call: Call, { id, ip_version, is_default }: Wire): void {
  const isAnotherDefaultPool = (pool: Doc) =>
    pool.is_default === true && pool.ip_version === ip_version && pool.id !== id;
  if (is_default === true && [...poolsOf(call).values()].some(isAnotherDefaultPool))
    throw networkError(
      'InvalidInput',
      'Invalid input for operation: A default subnetpool for this IP family has already been set. Only one default may exist per IP family.',
    );
}

/** Throws unless a network's subnets share a pool or an address scope. @param poolId null if the subnet has no pool */
export async function requireSamePool(
  call: Call,
  networkId: string,
  ipVersion: unknown,
  poolId: unknown,
): Promise<void> {
  const subnetRecords = call.cloud.documents.table<Wire>('network/subnets');
  const subnets = await call.cloud.catalogs.networks.listSubnets(call.elevatedCaller, { networkId });
  const scopeOf = (id: unknown) => poolsOf(call).get(String(id))?.address_scope_id ?? null;
  const hasOtherPool = subnets.some(({ id, ipVersion: version }) => {
    const other = subnetRecords.get(id)?.subnetpool_id ?? null;
    const isSameScope = scopeOf(other) !== null && scopeOf(other) === scopeOf(poolId);
    return version === ipVersion && other !== (poolId ?? null) && !isSameScope;
  });
  if (hasOtherPool)
    throw networkError(
      'NetworkSubnetPoolAffinityError',
      'Subnets hosted on the same network must be allocated from the same subnet pool.',
    );
}

export const subnetPools = {
  ...resourceNames('subnetpool'),
  title: 'Subnet pool',
  tags: true,
  fields: () => ({
    ...standardFields,
    ...nameFields,
    name: required(settable(z.string().min(1))),
    prefixes: required(settable(uniqueList(prefix), undefined, { filter: false })),
    default_quota: settable(count, null),
    ip_version: derived(),
    default_prefixlen: settable(count),
    min_prefixlen: settable(count),
    max_prefixlen: settable(count),
    is_default: settable(flag, false, adminWritable),
    shared: fixed(flag, false, adminWritable),
    address_scope_id: settable(uuid.nullable(), null),
  }),
  // As in Neutron, prefix lengths are strings.
  shows: (_call, pool) => Object.fromEntries(LENGTH_FIELDS.map((name) => [name, String(pool[name])])),
  async creating(call, pool) {
    const { prefixes, default_prefixlen, min_prefixlen, max_prefixlen } = pool;
    const derivedPrefixes = prefixFields(prefixes as readonly string[]);
    const maxLength = MAX_PREFIX_LENGTHS[derivedPrefixes.ip_version as 4 | 6];
    const minLength = min_prefixlen ?? (maxLength === 32 ? 8 : 64);
    rejectSecondDefault(call, { ...pool, ...derivedPrefixes });
    await checkAddressScope(call, { ...pool, ...derivedPrefixes });
    return {
      ...derivedPrefixes,
      min_prefixlen: minLength,
      max_prefixlen: max_prefixlen ?? maxLength,
      default_prefixlen: default_prefixlen ?? minLength,
    };
  },
  async changing(call, before, change) {
    const { prefixes } = change;
    rejectForeignScope(call, before);
    rejectSecondDefault(call, { ...before, ...change });
    await checkAddressScope(call, { ...before, ...change });
    if (prefixes === undefined) return undefined;
    if (!areContained(before.prefixes as readonly string[], prefixes as readonly string[]))
      throw badRequest(
        `Illegal subnetpool update : Existing prefixes must be a subset of the new prefixes.`,
        'IllegalSubnetPoolPrefixUpdate',
      );
    return prefixFields(prefixes as readonly string[]);
  },
  async removing(call, { id }) {
    if ((await usersOfSubnetPool(call, id)).length > 0)
      throw conflict(
        `Unable to complete operation on subnetpool ${id}: Subnet pool has existing allocations.`,
        'SubnetPoolDeleteError',
      );
  },
  routes: (resource) =>
    ['add_prefixes', 'remove_prefixes'].map((action) =>
      put(`/v2.0/subnetpools/:id/${action}`, async (call) => {
        const before = await resource.find(call, call.param('id'), 'change', action);
        const { prefixes } = call.body(PrefixesBody);
        const previousPrefixes = before.prefixes as readonly string[];
        const newPrefixes =
          action === 'add_prefixes'
            ? [...previousPrefixes, ...prefixes]
            : previousPrefixes.filter((p) => !prefixes.includes(p));
        const change = prefixFields(newPrefixes);
        rejectForeignScope(call, before);
        await checkAddressScope(call, { ...before, ...change });
        await resource.storage.update(call, before, change);
        return { prefixes: change.prefixes };
      }),
    ),
} satisfies ResourceSpec;
