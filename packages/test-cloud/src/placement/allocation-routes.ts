import { z } from 'zod';
import type { Call } from '../service/call.js';
import { del, get, noContent, post, put, type Route } from '../service/route.js';
import { badRequest, notFound } from '../service/service-error.js';
import { allocate, type Consumer, consumer, consumersIn, consumersOf, forget, usagesOf } from './allocations.js';
import { since } from './placement-version.js';
import { amountsOf, canGive, hasTraits, isMember } from './provider-routes.js';
import { provider, providers, rootOf, write } from './providers.js';

const resources = z.record(z.string(), z.number().int().min(1));
const owner = { project_id: z.string().min(1).max(255).optional(), user_id: z.string().min(1).max(255).optional() };
const more = {
  ...owner,
  consumer_generation: z.number().int().nullable().optional(),
  consumer_type: z.string().optional(),
  mappings: z.record(z.string(), z.unknown()).optional(),
};
const Allocations = z.strictObject({
  allocations: z.record(z.string(), z.object({ resources, generation: z.number().optional() })),
  ...more,
});
/** Before 1.12 the providers were a list. */
const OlderAllocations = z.strictObject({
  allocations: z.array(z.strictObject({ resource_provider: z.object({ uuid: z.string() }), resources })).min(1),
  ...owner,
});
const Many = z.record(z.string(), Allocations);

function consumerFrom(call: Call, id: string, given: z.infer<typeof Allocations>): Consumer {
  if (since(call, 8) && (given.project_id === undefined || given.user_id === undefined))
    throw badRequest("JSON does not validate: 'project_id' and 'user_id' are required properties");
  if (since(call, 28) && given.consumer_generation === undefined)
    throw badRequest("JSON does not validate: 'consumer_generation' is a required property");
  return {
    id,
    project: given.project_id ?? '00000000-0000-0000-0000-000000000000',
    user: given.user_id ?? '00000000-0000-0000-0000-000000000000',
    type: given.consumer_type ?? 'unknown',
    generation: 0,
    allocations: Object.fromEntries(Object.entries(given.allocations).map(([uuid, one]) => [uuid, one.resources])),
  };
}

async function view(call: Call, consumer: Consumer | undefined) {
  if (!consumer) return { allocations: {} };
  const all = await providers(call);
  const shown = Object.entries(consumer.allocations).map(([uuid, taken]) => [
    uuid,
    { generation: all.get(uuid)?.generation ?? 0, resources: taken },
  ]);
  return {
    allocations: Object.fromEntries(shown),
    ...(since(call, 12) && { project_id: consumer.project, user_id: consumer.user }),
    ...(since(call, 28) && { consumer_generation: consumer.generation }),
    ...(since(call, 38) && { consumer_type: consumer.type }),
  };
}

/** Which providers could give all that is asked for. */
async function candidates(call: Call) {
  const { query } = call;
  const written = query.get('resources');
  if (written === null)
    throw badRequest(
      'All request groups must have resources: no "resources" parameter.',
      'placement.query.missing_value',
    );
  const limit = call.number('limit');
  if (limit === 0) throw badRequest('limit must be a positive number', 'placement.query.bad_value');
  const all = await providers(call);
  const amounts = Object.fromEntries(amountsOf(written));
  const requests = [];
  const summaries: Record<string, unknown> = {};
  for (const one of all.values()) {
    if (limit !== undefined && requests.length >= limit) break;
    const suits =
      query.getAll('required').every((text) => hasTraits(one.traits, text)) &&
      query.getAll('member_of').every((text) => isMember(one, text)) &&
      (!query.has('in_tree') || query.get('in_tree') === one.uuid) &&
      (await canGive(call, one, written));
    if (!suits) continue;
    requests.push({
      allocations: since(call, 12)
        ? { [one.uuid]: { resources: amounts } }
        : [{ resource_provider: { uuid: one.uuid }, resources: amounts }],
      ...(since(call, 34) && { mappings: { '': [one.uuid] } }),
    });
    const used = usagesOf(await consumersOf(call, one), one.uuid);
    const shown = Object.entries(one.inventories).filter(([name]) => since(call, 27) || name in amounts);
    summaries[one.uuid] = {
      resources: Object.fromEntries(
        shown.map(([name, { total, reserved, allocation_ratio }]) => [
          name,
          { capacity: Math.floor((total - reserved) * allocation_ratio), used: used[name] ?? 0 },
        ]),
      ),
      ...(since(call, 17) && { traits: one.traits }),
      ...(since(call, 29) && { root_provider_uuid: rootOf(all, one), parent_provider_uuid: one.parent }),
    };
  }
  return { allocation_requests: requests, provider_summaries: summaries };
}

async function totalUsages(call: Call) {
  const project = call.text('project_id');
  if (!project) throw badRequest("Invalid query string parameters: 'project_id' is a required property");
  if (project !== call.caller.projectId) call.requireAdmin();
  const user = call.text('user_id');
  const elevated = (await consumersIn(call, project)).filter((one) => user === undefined || one.user === user);
  if (!since(call, 38)) return { usages: usagesOf(elevated) };
  const requested = call.text('consumer_type');
  const types = [...new Set(elevated.map(({ type }) => type))].filter(
    (type) => requested === undefined || requested === 'all' || requested === type,
  );
  if (requested === 'all') return { usages: { all: { ...usagesOf(elevated), consumer_count: elevated.length } } };
  const of = (type: string) => elevated.filter((one) => one.type === type);
  return {
    usages: Object.fromEntries(types.map((type) => [type, { ...usagesOf(of(type)), consumer_count: of(type).length }])),
  };
}

/** Who has what: told by clients, and by compute for its servers. */
export function allocationRoutes(): readonly Route[] {
  return [
    get('/allocations/:consumer', async (call) => {
      return view(call, await consumer(call, call.param('consumer')));
    }),
    put('/allocations/:consumer', async (call) => {
      const id = call.param('consumer');
      const given = since(call, 12) ? call.body(Allocations) : fromOlder(call.body(OlderAllocations));
      if (Object.keys(given.allocations).length === 0 && !since(call, 28))
        throw badRequest('JSON does not validate: allocations are empty');
      await allocate(call, consumerFrom(call, id, given), since(call, 28) ? given.consumer_generation : undefined);
      return noContent();
    }),
    del('/allocations/:consumer', async (call) => {
      const id = call.param('consumer');
      const existing = await consumer(call, id);
      if (!existing || !forget(call, id)) throw notFound(`No allocations for consumer '${id}'`);
      for (const uuid of Object.keys(existing.allocations)) write(call, await provider(call, uuid), {});
      return noContent();
    }),
    post('/allocations', async (call) => {
      for (const [id, given] of Object.entries(call.body(Many)))
        await allocate(call, consumerFrom(call, id, given), since(call, 28) ? given.consumer_generation : undefined);
      return noContent();
    }),
    get('/allocation_candidates', candidates),
    get('/usages', totalUsages),
  ];
}

function fromOlder({ allocations, ...rest }: z.infer<typeof OlderAllocations>): z.infer<typeof Allocations> {
  return {
    ...rest,
    allocations: Object.fromEntries(
      allocations.map(({ resource_provider, resources: taken }) => [resource_provider.uuid, { resources: taken }]),
    ),
  };
}
