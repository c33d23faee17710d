import { z } from 'zod';
import type { Call } from '../service/call.js';
import { del, get, noContent, post, put, type Route } from '../service/route.js';
import { badRequest, notFound } from '../service/service-error.js';
import { type Consumer, consumer, consumersIn, forget, usagesOf } from './allocations.js';
import { candidates } from './candidates.js';
import { since } from './placement-version.js';
import { provider, providers, write } from './providers.js';
import { replaceAllocations } from './replacement.js';
import { bodyOf } from './request-body.js';
import { badQuery, checkParameters } from './request-groups.js';

const resources = z
  .record(z.string().regex(/^[A-Z0-9_]+$/), z.number().int().min(1))
  .refine((amounts) => Object.keys(amounts).length > 0, 'does not have enough properties');
const owner = { project_id: z.string().min(1).max(255).optional(), user_id: z.string().min(1).max(255).optional() };
const more = {
  ...owner,
  consumer_generation: z.number().int().nullable().optional(),
  consumer_type: z
    .string()
    .max(255)
    .regex(/^[A-Z0-9_]+$/)
    .optional(),
  mappings: z
    .record(z.string(), z.array(z.guid()).min(1))
    .refine((groups) => Object.keys(groups).length > 0, 'does not have enough properties')
    .optional(),
};
const Allocations = z.strictObject({
  allocations: z.record(z.string(), z.object({ resources, generation: z.number().optional() })),
  ...more,
});
/** Before 1.12, providers are a list. */
const OlderAllocations = z.strictObject({
  allocations: z.array(z.strictObject({ resource_provider: z.object({ uuid: z.string() }), resources })).min(1),
  ...owner,
});
/** The allocations of several consumers, by their ids. */
export const Many = z.record(z.guid(), Allocations);

/** Keys of a consumer's allocations, by the version from which they are required or allowed. */
const REQUIRED_SINCE = { project_id: 8, user_id: 8, consumer_generation: 28, consumer_type: 38 } as const;
const ALLOWED_SINCE = { ...REQUIRED_SINCE, mappings: 34 } as const;

/** Returns the consumer of a request. Throws a 400 error for a key that its version requires, or does not have. */
export function consumerFrom(call: Call, id: string, given: z.infer<typeof Allocations>): Consumer {
  for (const [key, first] of Object.entries(REQUIRED_SINCE))
    if (since(call, first) && given[key as keyof typeof REQUIRED_SINCE] === undefined)
      throw badRequest(`JSON does not validate: '${key}' is a required property`);
  for (const [key, first] of Object.entries(ALLOWED_SINCE))
    if (!since(call, first) && given[key as keyof typeof ALLOWED_SINCE] !== undefined)
      throw badRequest(`JSON does not validate: Additional properties are not allowed ('${key}' was unexpected)`);
  return {
    id,
    project: given.project_id ?? '00000000-0000-0000-0000-000000000000',
    user: given.user_id ?? '00000000-0000-0000-0000-000000000000',
    type: given.consumer_type ?? 'unknown',
    generation: 0,
    allocations: Object.fromEntries(Object.entries(given.allocations).map(([uuid, one]) => [uuid, one.resources])),
  };
}

const replacementOf = (call: Call, id: string, given: z.infer<typeof Allocations>) => ({
  requested: consumerFrom(call, id, given),
  seen: given.consumer_generation,
});

/** Returns the id of the consumer in the path, with dashes. Throws a 400 error for an id that is not a UUID. */
function consumerIdOf(call: Call): string {
  const id = call.param('consumer');
  const plain = id.replaceAll('-', '').toLowerCase();
  if (!/^[0-9a-f]{32}$/.test(plain)) throw badRequest(`Malformed consumer_uuid: ${id}`);
  return plain.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
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

async function totalUsages(call: Call) {
  checkParameters(call, ['project_id', 'user_id', ...(since(call, 38) ? ['consumer_type'] : [])]);
  for (const [key, value] of call.query)
    if (value.length === 0 || value.length > 255)
      throw badQuery(
        value.length === 0
          ? `'' is too short\n\nFailed validating 'minLength' in schema['properties']['${key}']`
          : `'${value}' is too long\n\nFailed validating 'maxLength' in schema['properties']['${key}']`,
      );
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

/** Allocations: those of clients, and those of compute servers. */
export function allocationRoutes(): readonly Route[] {
  return [
    get('/allocations/:consumer', async (call) => {
      return view(call, await consumer(call, call.param('consumer')));
    }),
    put('/allocations/:consumer', async (call) => {
      const id = consumerIdOf(call);
      const given = since(call, 12) ? bodyOf(call, Allocations) : fromLegacyForm(bodyOf(call, OlderAllocations));
      if (Object.keys(given.allocations).length === 0 && !since(call, 28))
        throw badRequest('JSON does not validate: allocations are empty');
      await replaceAllocations(call, [replacementOf(call, id, given)]);
      return noContent();
    }),
    del('/allocations/:consumer', async (call) => {
      const id = call.param('consumer');
      const existing = await consumer(call, id);
      if (!existing || !forget(call, id)) throw notFound(`No allocations for consumer '${id}'`);
      for (const uuid of Object.keys(existing.allocations)) await write(call, await provider(call, uuid), {});
      return noContent();
    }),
    post('/allocations', async (call) => {
      const replacements = Object.entries(bodyOf(call, Many)).map(([id, given]) => replacementOf(call, id, given));
      if (replacements.length === 0) throw badRequest('JSON does not validate: {} does not have enough properties');
      await replaceAllocations(call, replacements);
      return noContent();
    }),
    get('/allocation_candidates', candidates),
    get('/usages', totalUsages),
  ];
}

function fromLegacyForm({ allocations, ...rest }: z.infer<typeof OlderAllocations>): z.infer<typeof Allocations> {
  return {
    ...rest,
    allocations: Object.fromEntries(
      allocations.map(({ resource_provider, resources: taken }) => [resource_provider.uuid, { resources: taken }]),
    ),
  };
}
