import type { Call } from '../service/call.js';
import { del, get, noContent, post, put, type Route } from '../service/route.js';
import { badRequest, notFound } from '../service/service-error.js';
import { manyConsumers, oneConsumer, type RequestedAllocations } from './allocation-bodies.js';
import { type Consumer, consumer, consumersIn, removeConsumer, usagesOf } from './allocations.js';
import { candidates } from './candidates.js';
import { since } from './placement-version.js';
import { providers } from './providers.js';
import { type Replacement, replaceAllocations } from './replacement.js';
import { anyUuid, atLeastOne, bodyOf, dashed } from './request-body.js';
import { badQuery, checkParameters } from './requirements.js';

/** The project and user of consumers from requests before 1.8, which do not name an owner. */
const NO_OWNER = '00000000-0000-0000-0000-000000000000';

/** Converts the requested allocations of a consumer to a replacement. */
export const replacementOf = ([id, body]: readonly [string, RequestedAllocations]): Replacement => ({
  requested: {
    id,
    project: body.project_id ?? NO_OWNER,
    user: body.user_id ?? NO_OWNER,
    type: body.consumer_type ?? '',
    generation: 0,
    allocations: Object.fromEntries(Object.entries(body.allocations).map(([uuid, one]) => [uuid, one.resources])),
  },
  seen: body.consumer_generation,
});

/** Returns the consumer id in the path, with dashes. Throws a 400 error unless it is a UUID. */
function consumerIdOf(call: Call): string {
  const id = call.param('consumer');
  if (!anyUuid.safeParse(id).success) throw badRequest(`Malformed consumer_uuid: ${id}`);
  return dashed(id);
}

async function view(call: Call, consumer: Consumer | undefined) {
  if (!consumer) return { allocations: {} };
  const all = await providers(call);
  const shown = Object.entries(consumer.allocations).map(([uuid, allocation]) => [
    uuid,
    { generation: all.get(uuid)?.generation ?? 0, resources: allocation },
  ]);
  return {
    allocations: Object.fromEntries(shown),
    ...(since(call, 12) && { project_id: consumer.project, user_id: consumer.user }),
    ...(since(call, 28) && { consumer_generation: consumer.generation }),
    ...(since(call, 38) && { consumer_type: consumer.type }),
  };
}

/** The consumer types that the filter of usages accepts, including `all` and `unknown`. */
const CONSUMER_TYPE = /^[A-Z0-9_]+$|^all|^unknown$/;

async function totalUsages(call: Call) {
  const project = call.text('project_id');
  if (project === undefined) throw badQuery("'project_id' is a required property");
  checkParameters(call, ['project_id', 'user_id', ...(since(call, 38) ? ['consumer_type'] : [])]);
  for (const [key, value] of call.query)
    if (value.length === 0 || value.length > 255)
      throw badQuery(
        value.length === 0
          ? `'' is too short\n\nFailed validating 'minLength' in schema['properties']['${key}']`
          : `'${value}' is too long\n\nFailed validating 'maxLength' in schema['properties']['${key}']`,
      );
  const user = call.text('user_id');
  const matching = (await consumersIn(call, project)).filter((one) => user === undefined || one.user === user);
  if (!since(call, 38)) return { usages: usagesOf(matching) };
  const requested = call.text('consumer_type');
  if (requested !== undefined && !CONSUMER_TYPE.test(requested))
    throw badQuery(
      `'${requested}' does not match '${CONSUMER_TYPE.source}'\n\nFailed validating 'pattern' in schema['properties']['consumer_type']`,
    );
  const byType = new Map<string, Consumer[]>();
  for (const one of matching) {
    const type = requested === 'all' ? requested : one.type;
    if (requested === undefined || requested === type) byType.set(type, [...(byType.get(type) ?? []), one]);
  }
  const shown = [...byType].map(([type, some]) => [type, { ...usagesOf(some), consumer_count: some.length }]);
  return { usages: Object.fromEntries(shown) };
}

/** The routes for allocations, both those that clients have created and those of compute servers. */
export function allocationRoutes(): readonly Route[] {
  return [
    get('/allocations/:consumer', async (call) => {
      return view(call, await consumer(call, call.param('consumer')));
    }),
    put('/allocations/:consumer', async (call) => {
      const id = consumerIdOf(call);
      const prefix = `Unable to allocate inventory for consumer ${id}: `;
      await replaceAllocations(call, [replacementOf([id, bodyOf(call, oneConsumer(call))])], prefix);
      return noContent();
    }),
    del('/allocations/:consumer', async (call) => {
      const id = call.param('consumer');
      if (!removeConsumer(call, id)) throw notFound(`No allocations for consumer '${id}'`);
      return noContent();
    }),
    post('/allocations', async (call) => {
      const body = bodyOf(call, atLeastOne(manyConsumers(call)));
      await replaceAllocations(call, Object.entries(body).map(replacementOf), 'Unable to allocate inventory ');
      return noContent();
    }),
    get('/allocation_candidates', candidates),
    get('/usages', totalUsages),
  ];
}
