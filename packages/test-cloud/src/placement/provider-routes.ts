import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import { del, get, noContent, post, put as putRoute, Reply, type Route } from '../service/route.js';
import { badRequest, conflict, notFound } from '../service/service-error.js';
import { consumersOf, usedAmountsOf } from './allocations.js';
import { hasTraits, isMember } from './candidates.js';
import { fits } from './capacity.js';
import { isAtLeast } from './placement-version.js';
import {
  listProviders,
  type Provider,
  provider,
  providerInPath,
  rejectOutdated,
  removeProvider,
  rootOf,
  storeProvider,
  unknownProviderMessage,
  writeProvider,
} from './providers.js';
import { anyUuid, formatUuid, unknownPropertiesMessage, validateBody } from './request-body.js';
import { badQuery, checkNames, parseAmounts, parseRequirements } from './requirements.js';

const name = z.string().max(200);
const parent = { parent_provider_uuid: anyUuid.nullish() };
const ProviderNameBody = z.strictObject({ name });
const ProviderChangeBody = ProviderNameBody.extend(parent);
const OlderProvider = ProviderNameBody.extend({ uuid: anyUuid.optional() });
const NewProvider = OlderProvider.extend(parent);

async function providerView(call: Call, one: Provider) {
  const all = await listProviders(call);
  const self = `/placement/resource_providers/${one.uuid}`;
  const parts = [
    'inventories',
    'usages',
    ...(isAtLeast(call, 1) ? ['aggregates'] : []),
    ...(isAtLeast(call, 6) ? ['traits'] : []),
    ...(isAtLeast(call, 11) ? ['allocations'] : []),
  ];
  return {
    uuid: one.uuid,
    name: one.name,
    generation: one.generation,
    ...(isAtLeast(call, 14) && { root_provider_uuid: rootOf(all, one), parent_provider_uuid: one.parent }),
    links: [{ rel: 'self', href: self }, ...parts.map((rel) => ({ rel, href: `${self}/${rel}` }))],
  };
}

/** The query parameters of the provider list, by the minor version that introduced them. */
const FILTERS: Readonly<Record<string, number>> = {
  name: 0,
  uuid: 0,
  member_of: 3,
  resources: 4,
  in_tree: 14,
  required: 18,
};

/** Parses the query of the provider list as a predicate. Throws a 400 error for an invalid parameter. */
async function parseFilter(
  call: Call,
  all: ReadonlyMap<string, Provider>,
): Promise<(one: Provider) => Promise<boolean>> {
  const { query } = call;
  const unknownNames = [...query.keys()].filter((key) => !isAtLeast(call, FILTERS[key] ?? Number.POSITIVE_INFINITY));
  if (unknownNames.length > 0) throw badQuery(unknownPropertiesMessage(unknownNames));
  for (const key of ['uuid', 'in_tree']) {
    const value = query.get(key);
    if (value !== null && !z.guid().safeParse(value).success) throw badQuery(`'${value}' is not a 'uuid'`);
  }
  const uuid = query.get('uuid');
  const requirements = parseRequirements(call);
  const requestedResources = query.getAll('resources').at(-1);
  const resources = requestedResources === undefined ? new Map<string, number>() : parseAmounts(requestedResources);
  await checkNames(call, [{ resources, ...requirements }], 'Invalid trait(s) in "required" parameter: ');
  const treeProvider = requirements.inTree === undefined ? undefined : all.get(requirements.inTree);
  return async (one) => {
    // An empty name in the query has no effect.
    if (query.get('name') && query.get('name') !== one.name) return false;
    if (uuid !== null && uuid !== one.uuid) return false;
    if (requirements.inTree !== undefined && (!treeProvider || rootOf(all, treeProvider) !== rootOf(all, one)))
      return false;
    if (!isMember(one.aggregates, requirements) || !hasTraits(one.traits, requirements)) return false;
    const used = resources.size === 0 ? {} : await usedAmountsOf(call, one);
    return [...resources].every(([name, amount]) => fits(one, used, name, amount));
  };
}

const duplicateError = (what: string) =>
  conflict(`Conflicting resource provider ${what} already exists.`, 'placement.duplicate_name');

/** Returns whether another provider already has this name. */
const isNameUsed = (all: ReadonlyMap<string, Provider>, uuid: string, name: string) =>
  [...all.values()].some((other) => other.name === name && other.uuid !== uuid);

/** Returns whether a provider is in the subtree of another provider. A subtree includes its root. */
function isInSubtree(all: ReadonlyMap<string, Provider>, other: string, uuid: string | null): boolean {
  const one = uuid === null ? undefined : all.get(uuid);
  return one !== undefined && (one.uuid === other || isInSubtree(all, other, one.parent));
}

/** The routes for resource providers. */
export function providerRoutes(): readonly Route[] {
  const path = '/resource_providers';
  return [
    get(path, async (call) => {
      const all = await listProviders(call);
      const matches = await parseFilter(call, all);
      const shown = [];
      for (const one of all.values()) if (await matches(one)) shown.push(await providerView(call, one));
      return { resource_providers: shown };
    }),
    post(path, async (call) => {
      const all = await listProviders(call);
      const requested: z.infer<typeof NewProvider> = validateBody(
        call,
        isAtLeast(call, 14) ? NewProvider : OlderProvider,
      );
      const uuid = requested.uuid ? formatUuid(requested.uuid) : randomUUID();
      const parent = requested.parent_provider_uuid ?? null;
      const reject = (reason: string) =>
        badRequest(
          `Unable to create resource provider "${requested.name}", ${uuid}: Object action create failed because: ${reason}`,
        );
      if (requested.name === '') throw reject('name is required');
      if (parent === uuid)
        throw reject(
          'parent provider UUID cannot be same as UUID. Please set parent provider UUID to None if there is no parent.',
        );
      if (parent !== null && !all.has(parent)) throw reject('parent provider UUID does not exist.');
      if (all.has(uuid)) throw duplicateError(`uuid: ${uuid}`);
      if (isNameUsed(all, uuid, requested.name)) throw duplicateError(`name: ${requested.name}`);
      const created: Provider = {
        uuid,
        name: requested.name,
        parent,
        generation: 0,
        inventories: {},
        traits: [],
        aggregates: [],
      };
      await storeProvider(call, created);
      const headers = { Location: `${call.base}/resource_providers/${uuid}` };
      return isAtLeast(call, 20)
        ? new Reply(200, await providerView(call, created), headers)
        : new Reply(201, undefined, headers);
    }),
    get(`${path}/:id`, async (call) => providerView(call, await provider(call))),
    putRoute(`${path}/:id`, async (call) => {
      const all = await listProviders(call);
      const before = await provider(call);
      const requested: z.infer<typeof ProviderChangeBody> = validateBody(
        call,
        isAtLeast(call, 14) ? ProviderChangeBody : ProviderNameBody,
      );
      const parent = requested.parent_provider_uuid === undefined ? before.parent : requested.parent_provider_uuid;
      const reject = (reason: string, action = 'update') =>
        badRequest(
          `Unable to save resource provider ${before.uuid}: Object action ${action} failed because: ${reason}`,
        );
      if (parent !== null && !all.has(parent)) throw reject('parent provider UUID does not exist.', 'create');
      if (parent !== before.parent && before.parent !== null && !isAtLeast(call, 37))
        throw reject(`${parent === null ? 'un' : 're'}-parenting a provider is not currently allowed.`);
      if (isInSubtree(all, before.uuid, parent)) throw reject('creating loop in the provider tree is not allowed.');
      if (isNameUsed(all, before.uuid, requested.name)) throw duplicateError(requested.name);
      const changed = { ...before, name: requested.name, parent };
      await storeProvider(call, changed);
      return providerView(call, changed);
    }),
    del(`${path}/:id`, async (call) => {
      const all = await listProviders(call);
      const provider = all.get(call.param('id'));
      if (!provider) throw notFound(`${unknownProviderMessage(call.param('id'))} for delete`);
      if ([...all.values()].some(({ parent }) => parent === provider.uuid))
        throw conflict(
          `Unable to delete parent resource provider ${provider.uuid}: It has child resource providers.`,
          'placement.resource_provider.cannot_delete_parent',
        );
      if ((await consumersOf(call, provider)).length > 0)
        throw conflict(
          `Unable to delete resource provider ${provider.uuid}: Resource provider has allocations.`,
          'placement.resource_provider.inuse',
        );
      removeProvider(call, provider);
      return noContent();
    }),
    get(`${path}/:id/usages`, async (call) => {
      const one = await providerInPath(call);
      const used = await usedAmountsOf(call, one);
      const shown = Object.keys(one.inventories).map((resource) => [resource, used[resource] ?? 0]);
      return { resource_provider_generation: one.generation, usages: Object.fromEntries(shown) };
    }),
    get(`${path}/:id/allocations`, async (call) => {
      const one = await provider(call, undefined, `Resource provider '${call.param('id')}' not found: `);
      const shown = (await consumersOf(call, one)).map((consumer) => [
        consumer.id,
        {
          resources: consumer.allocations[one.uuid],
          ...(isAtLeast(call, 28) && { consumer_generation: consumer.generation }),
        },
      ]);
      return { resource_provider_generation: one.generation, allocations: Object.fromEntries(shown) };
    }),
    get(`${path}/:id/aggregates`, async (call) => aggregatesView(call, await provider(call))),
    putRoute(`${path}/:id/aggregates`, async (call) => {
      const before = await provider(call);
      const list = z.array(anyUuid).refine((ids) => new Set(ids).size === ids.length, 'has non-unique elements');
      if (!isAtLeast(call, 19))
        return aggregatesView(call, await writeProvider(call, before, { aggregates: validateBody(call, list) }, 0));
      const schema = z.strictObject({ aggregates: list, resource_provider_generation: z.number().int() });
      const requested = validateBody(call, schema);
      rejectOutdated(before, requested.resource_provider_generation);
      return aggregatesView(call, await writeProvider(call, before, { aggregates: requested.aggregates }));
    }),
  ];
}

function aggregatesView(call: Call, { aggregates, generation }: Provider) {
  return { aggregates, ...(isAtLeast(call, 19) && { resource_provider_generation: generation }) };
}
