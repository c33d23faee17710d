import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import { del, get, noContent, post, put as putRoute, Reply, type Route } from '../service/route.js';
import { badRequest, conflict, notFound } from '../service/service-error.js';
import { consumersOf, freeOf, usagesOf } from './allocations.js';
import { since } from './placement-version.js';
import { drop, type Provider, provider, providers, put, rootOf, write } from './providers.js';

const name = z.string().min(1).max(200);
const NewProvider = z.strictObject({ name, uuid: z.guid().optional(), parent_provider_uuid: z.guid().nullish() });
const Change = z.strictObject({ name, parent_provider_uuid: z.guid().nullish() });
const FILTERS = ['name', 'uuid', 'member_of', 'resources', 'in_tree', 'required'];

async function view(call: Call, one: Provider) {
  const all = await providers(call);
  const self = `/placement/resource_providers/${one.uuid}`;
  const parts = [
    'inventories',
    'usages',
    ...(since(call, 1) ? ['aggregates'] : []),
    ...(since(call, 6) ? ['traits'] : []),
    ...(since(call, 11) ? ['allocations'] : []),
  ];
  return {
    uuid: one.uuid,
    name: one.name,
    generation: one.generation,
    ...(since(call, 14) && { root_provider_uuid: rootOf(all, one), parent_provider_uuid: one.parent }),
    links: [{ rel: 'self', href: self }, ...parts.map((rel) => ({ rel, href: `${self}/${rel}` }))],
  };
}

/** `VCPU:2,MEMORY_MB:512` */
export function amountsOf(written: string): readonly (readonly [string, number])[] {
  return written.split(',').map((part) => {
    const [resource = '', amount = ''] = part.split(':');
    if (!/^[A-Z0-9_]+$/.test(resource) || !/^[1-9]\d*$/.test(amount))
      throw badRequest(
        `Badly formed resources parameter. Expected resources query string parameter in form: ?resources=VCPU:2,MEMORY_MB:1024. Got: ${written}.`,
        'placement.query.bad_value',
      );
    return [resource, Number(amount)];
  });
}

/** Traits that are asked for: `A,!B`, and `in:A,B` for any of them. */
export function hasTraits(traits: readonly string[], written: string): boolean {
  if (written.startsWith('in:'))
    return written
      .slice(3)
      .split(',')
      .some((trait) => traits.includes(trait));
  return written
    .split(',')
    .every((trait) => (trait.startsWith('!') ? !traits.includes(trait.slice(1)) : traits.includes(trait)));
}

/** Whether a provider has all that. */
export async function canGive(call: Call, one: Provider, written: string): Promise<boolean> {
  const used = usagesOf(await consumersOf(call, one), one.uuid);
  return amountsOf(written).every(([resource, amount]) => {
    const inventory = one.inventories[resource];
    return inventory !== undefined && amount <= inventory.max_unit && amount <= freeOf(one, used, resource);
  });
}

export function isMember({ aggregates }: Provider, written: string): boolean {
  const forbids = written.startsWith('!');
  const plain = forbids ? written.slice(1) : written;
  const ids = plain.replace(/^in:/, '').split(',');
  return ids.some((id) => aggregates.includes(id)) !== forbids;
}

async function matches(call: Call, all: ReadonlyMap<string, Provider>, one: Provider): Promise<boolean> {
  const { query } = call;
  const tree = query.get('in_tree');
  const top = tree === null ? undefined : all.get(tree);
  if (query.has('name') && query.get('name') !== one.name) return false;
  if (query.has('uuid') && query.get('uuid') !== one.uuid) return false;
  if (tree !== null && (!top || rootOf(all, top) !== rootOf(all, one))) return false;
  if (!query.getAll('member_of').every((text) => isMember(one, text))) return false;
  if (!query.getAll('required').every((text) => hasTraits(one.traits, text))) return false;
  const resources = query.get('resources');
  return resources === null || canGive(call, one, resources);
}

function refuseTaken(
  all: ReadonlyMap<string, Provider>,
  { uuid, name: wantedName }: { uuid: string; name: string },
): void {
  if ([...all.values()].some((other) => other.name === wantedName && other.uuid !== uuid))
    throw conflict(`Conflicting resource provider name: ${wantedName} already exists.`, 'placement.duplicate_name');
}

function refuseUnknownParent(all: ReadonlyMap<string, Provider>, parent: string | null): void {
  if (parent !== null && !all.has(parent)) throw badRequest(`parent provider UUID does not exist: ${parent}`);
}

/** Resource providers: made, renamed, moved, removed. */
export function providerRoutes(): readonly Route[] {
  const path = '/resource_providers';
  return [
    get(path, async (call) => {
      const stray = [...call.query.keys()].find((key) => !FILTERS.includes(key));
      if (stray)
        throw badRequest(
          `Invalid query string parameters: Additional properties are not allowed ('${stray}' was unexpected)`,
        );
      const all = await providers(call);
      const shown = [];
      for (const one of all.values()) if (await matches(call, all, one)) shown.push(await view(call, one));
      return { resource_providers: shown };
    }),
    post(path, async (call) => {
      const all = await providers(call);
      const given = call.body(NewProvider);
      const uuid = given.uuid ?? randomUUID();
      if (all.has(uuid))
        throw conflict(`Conflicting resource provider uuid: ${uuid} already exists.`, 'placement.duplicate_name');
      refuseTaken(all, { uuid, name: given.name });
      const parent = given.parent_provider_uuid ?? null;
      refuseUnknownParent(all, parent);
      const made: Provider = {
        uuid,
        name: given.name,
        parent,
        generation: 0,
        inventories: {},
        traits: [],
        aggregates: [],
      };
      put(call, made);
      const headers = { Location: `${call.base}/resource_providers/${uuid}` };
      return since(call, 20) ? new Reply(200, await view(call, made), headers) : new Reply(201, undefined, headers);
    }),
    get(`${path}/:id`, async (call) => view(call, await provider(call))),
    putRoute(`${path}/:id`, async (call) => {
      const all = await providers(call);
      const before = await provider(call);
      const given = call.body(Change);
      refuseTaken(all, { uuid: before.uuid, name: given.name });
      const parent = given.parent_provider_uuid === undefined ? before.parent : given.parent_provider_uuid;
      refuseUnknownParent(all, parent);
      if (parent !== before.parent && before.parent !== null && !since(call, 37))
        throw badRequest('Unable to save resource provider: re-parenting a provider is not currently allowed.');
      const changed = { ...before, name: given.name, parent };
      put(call, changed);
      return view(call, changed);
    }),
    del(`${path}/:id`, async (call) => {
      const all = await providers(call);
      const provider = all.get(call.param('id'));
      if (!provider) throw notFound(`No resource provider with uuid ${call.param('id')} found for delete`);
      if ((await consumersOf(call, provider)).length > 0)
        throw conflict(
          `Unable to delete resource provider ${provider.uuid}: Resource provider has allocations.`,
          'placement.resource_provider.inuse',
        );
      if ([...all.values()].some(({ parent }) => parent === provider.uuid))
        throw conflict(
          `Unable to delete parent resource provider ${provider.uuid}: It has child resource providers.`,
          'placement.resource_provider.cannot_delete_parent',
        );
      drop(call, provider);
      return noContent();
    }),
    get(`${path}/:id/usages`, async (call) => {
      const one = await provider(call);
      const used = usagesOf(await consumersOf(call, one), one.uuid);
      const shown = Object.keys(one.inventories).map((resource) => [resource, used[resource] ?? 0]);
      return { resource_provider_generation: one.generation, usages: Object.fromEntries(shown) };
    }),
    get(`${path}/:id/allocations`, async (call) => {
      const one = await provider(call);
      const shown = (await consumersOf(call, one)).map((consumer) => [
        consumer.id,
        {
          resources: consumer.allocations[one.uuid],
          ...(since(call, 28) && { consumer_generation: consumer.generation }),
        },
      ]);
      return { resource_provider_generation: one.generation, allocations: Object.fromEntries(shown) };
    }),
    get(`${path}/:id/aggregates`, async (call) => aggregatesView(call, await provider(call))),
    putRoute(`${path}/:id/aggregates`, async (call) => {
      const before = await provider(call);
      const list = z.array(z.guid());
      if (!since(call, 19))
        return aggregatesView(call, write(call, before, { aggregates: [...new Set(call.body(list))] }));
      const given = call.body(z.strictObject({ aggregates: list, resource_provider_generation: z.number().int() }));
      const aggregates = [...new Set(given.aggregates)];
      return aggregatesView(call, write(call, before, { aggregates }, given.resource_provider_generation));
    }),
  ];
}

function aggregatesView(call: Call, { aggregates, generation }: Provider) {
  return { aggregates, ...(since(call, 19) && { resource_provider_generation: generation }) };
}
