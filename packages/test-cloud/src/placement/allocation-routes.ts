import type { Call } from '../service/call.js';
import { del, get, noContent, post, put, type Route } from '../service/route.js';
import { badRequest, notFound } from '../service/service-error.js';
import { consumerSchema, consumersSchema, type RequestedAllocations } from './allocation-bodies.js';
import { type Consumer, consumersIn, findConsumer, removeConsumer, sumUsages } from './allocations.js';
import { listCandidates } from './candidates.js';
import { isAtLeast } from './placement-version.js';
import { listProviders } from './providers.js';
import { type Replacement, replaceAllocations } from './replacement.js';
import { anyUuid, atLeastOne, formatUuid, validateBody } from './request-body.js';
import { badQuery, checkParameters } from './requirements.js';

/** The project and user of consumers created by requests before 1.8, which do not name an owner. */
const MISSING_OWNER_ID = '00000000-0000-0000-0000-000000000000';

/** Converts the requested allocations of a consumer to a replacement. */
export const toReplacement = ([id, body]: readonly [string, RequestedAllocations]): Replacement => ({
  requested: {
    id,
    project: body.project_id ?? MISSING_OWNER_ID,
    user: body.user_id ?? MISSING_OWNER_ID,
    type: body.consumer_type ?? '',
    generation: 0,
    allocations: Object.fromEntries(Object.entries(body.allocations).map(([uuid, one]) => [uuid, one.resources])),
  },
  seenGeneration: body.consumer_generation,
});

/** Returns the consumer id in the path, with dashes. Throws a 400 error unless it is a UUID. */
function parseConsumerId(call: Call): string {
  const id = call.param('consumer');
  if (!anyUuid.safeParse(id).success) throw badRequest(`Malformed consumer_uuid: ${id}`);
  return formatUuid(id);
}

async function allocationsView(call: Call, consumer: Consumer | undefined) {
  if (!consumer) return { allocations: {} };
  const all = await listProviders(call);
  const shown = Object.entries(consumer.allocations).map(([uuid, allocation]) => [
    uuid,
    { generation: all.get(uuid)?.generation ?? 0, resources: allocation },
  ]);
  return {
    allocations: Object.fromEntries(shown),
    ...(isAtLeast(call, 12) && { project_id: consumer.project, user_id: consumer.user }),
    ...(isAtLeast(call, 28) && { consumer_generation: consumer.generation }),
    ...(isAtLeast(call, 38) && { consumer_type: consumer.type }),
  };
}

/** The consumer types that the filter of usages accepts, including `all` and `unknown`. */
const CONSUMER_TYPE = /^[A-Z0-9_]+$|^all|^unknown$/;

async function listProjectUsages(call: Call) {
  const project = call.text('project_id');
  if (project === undefined) throw badQuery("'project_id' is a required property");
  checkParameters(call, ['project_id', 'user_id', ...(isAtLeast(call, 38) ? ['consumer_type'] : [])]);
  for (const [key, value] of call.query)
    if (value.length === 0 || value.length > 255)
      throw badQuery(
        value.length === 0
          ? `'' is too short\n\nFailed validating 'minLength' in schema['properties']['${key}']`
          : `'${value}' is too long\n\nFailed validating 'maxLength' in schema['properties']['${key}']`,
      );
  const user = call.text('user_id');
  const matchingConsumers = (await consumersIn(call, project)).filter((one) => user === undefined || one.user === user);
  if (!isAtLeast(call, 38)) return { usages: sumUsages(matchingConsumers) };
  const requestedType = call.text('consumer_type');
  if (requestedType !== undefined && !CONSUMER_TYPE.test(requestedType))
    throw badQuery(
      `'${requestedType}' does not match '${CONSUMER_TYPE.source}'\n\nFailed validating 'pattern' in schema['properties']['consumer_type']`,
    );
  const consumersByType = new Map<string, Consumer[]>();
  for (const one of matchingConsumers) {
    const type = requestedType === 'all' ? requestedType : one.type;
    if (requestedType === undefined || requestedType === type)
      consumersByType.set(type, [...(consumersByType.get(type) ?? []), one]);
  }
  const shown = [...consumersByType].map(([type, some]) => [type, { ...sumUsages(some), consumer_count: some.length }]);
  return { usages: Object.fromEntries(shown) };
}

/** The routes for allocations, both those that clients have created and those of compute servers. */
export function allocationRoutes(): readonly Route[] {
  return [
    get('/allocations/:consumer', async (call) => {
      return allocationsView(call, await findConsumer(call, call.param('consumer')));
    }),
    put('/allocations/:consumer', async (call) => {
      const id = parseConsumerId(call);
      const prefix = `Unable to allocate inventory for consumer ${id}: `;
      await replaceAllocations(call, [toReplacement([id, validateBody(call, consumerSchema(call))])], prefix);
      return noContent();
    }),
    del('/allocations/:consumer', async (call) => {
      const id = call.param('consumer');
      if (!removeConsumer(call, id)) throw notFound(`No allocations for consumer '${id}'`);
      return noContent();
    }),
    post('/allocations', async (call) => {
      const body = validateBody(call, atLeastOne(consumersSchema(call)));
      await replaceAllocations(call, Object.entries(body).map(toReplacement), 'Unable to allocate inventory ');
      return noContent();
    }),
    get('/allocation_candidates', listCandidates),
    get('/usages', listProjectUsages),
  ];
}
