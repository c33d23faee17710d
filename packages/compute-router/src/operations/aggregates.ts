import { Rejection } from '@apistrata/compute-engine';
import { since } from '@apistrata/microversion';
import { described, object } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { operation } from '../operation.js';
import { resource } from '../reference/resource.js';
import { azName, fqdn, metadataWithNull, name, nameWithSpaces, uuid } from '../schemas/types.js';
import { aggregate, aggregateTexts, createdAggregate } from '../views/aggregate.js';
import { parseNumericId } from './id-in-path.js';

const aggregateDocs = resource({
  tag: 'aggregates',
  parameters: { id: 'Integer ID of the aggregate. The UUID of the aggregate is not accepted.' },
});

const path = '/os-aggregates/{id}';
const actionPath = '/os-aggregates/{id}/action';

const hostBody = object({ host: described('Name of the host, as reported by its compute service.', fqdn) });

function parseAggregateId(id: string): number {
  const number = parseNumericId(id);
  if (number === undefined) throw new Rejection('BAD_REQUEST', `Invalid aggregate id ${id}: it must be an integer`);
  return number;
}

export const aggregateOperations = [
  operation({
    ...aggregateDocs,
    name: 'listAggregates',
    method: 'GET',
    path: '/os-aggregates',
    summary: 'List aggregates',
    description: 'Lists all aggregates with their hosts and metadata.',
    policy: 'os_compute_api:os-aggregates:index',
    status: 200,
    reply: { aggregates: described('The list of aggregates.', [aggregate]) },
    run: async ({ engine }) => ({ aggregates: await engine.aggregates.list() }),
  }),
  operation({
    ...aggregateDocs,
    name: 'createAggregate',
    method: 'POST',
    path: '/os-aggregates',
    summary: 'Create an aggregate',
    description: 'Creates an aggregate without hosts, optionally with an availability zone.',
    policy: 'os_compute_api:os-aggregates:create',
    status: 200,
    errors: [400, 409],
    when: { 409: 'An aggregate with this name already exists.' },
    body: object({
      aggregate: described(
        aggregateTexts.aggregate,
        object({
          name: described(aggregateTexts.name, name),
          availability_zone: described(aggregateTexts.availabilityZone, azName.nullish()),
        }),
      ),
    }),
    reply: { aggregate: described(aggregateTexts.aggregate, createdAggregate) },
    run: async ({ engine, body: { aggregate: requested } }) => ({
      aggregate: await engine.aggregates.create(requested.name, requested.availability_zone),
    }),
  }),
  operation({
    ...aggregateDocs,
    name: 'showAggregate',
    method: 'GET',
    path,
    summary: 'Show an aggregate',
    description: 'Shows an aggregate with its hosts and metadata.',
    policy: 'os_compute_api:os-aggregates:show',
    status: 200,
    errors: [400, 404],
    reply: { aggregate: described(aggregateTexts.aggregate, aggregate) },
    run: async ({ engine, params }) => ({ aggregate: await engine.aggregates.get(parseAggregateId(params.id)) }),
  }),
  operation({
    ...aggregateDocs,
    name: 'updateAggregate',
    method: 'PUT',
    path,
    summary: 'Update an aggregate',
    description:
      'Updates the name or the availability zone of an aggregate. The zone cannot be removed, and cannot be changed while there are servers on hosts in the aggregate.',
    policy: 'os_compute_api:os-aggregates:update',
    status: 200,
    errors: [400, 404, 409],
    when: {
      400: 'The request body is malformed or would remove the availability zone, or a host in the aggregate has servers or belongs to another availability zone.',
      409: 'An aggregate with this name already exists.',
    },
    body: object({
      aggregate: described(
        aggregateTexts.aggregate,
        z
          .strictObject({
            name: nameWithSpaces.optional().describe(aggregateTexts.name),
            availability_zone: azName.nullable().optional().describe(aggregateTexts.availabilityZone),
          })
          .refine((change) => Object.keys(change).length > 0, {
            message: 'At least one of name and availability_zone is required',
          }),
      ),
    }),
    reply: { aggregate: described(aggregateTexts.aggregate, aggregate) },
    run: async ({ engine, params, body: { aggregate: change } }) => ({
      aggregate: await engine.aggregates.update(parseAggregateId(params.id), {
        name: change.name,
        zone: change.availability_zone,
      }),
    }),
  }),
  operation({
    ...aggregateDocs,
    name: 'deleteAggregate',
    method: 'DELETE',
    path,
    summary: 'Delete an aggregate',
    description: 'Deletes an aggregate. The aggregate must not contain hosts.',
    policy: 'os_compute_api:os-aggregates:delete',
    status: 200,
    errors: [400, 404],
    when: { 400: 'The aggregate contains hosts.' },
    run: ({ engine, params }) => engine.aggregates.delete(parseAggregateId(params.id)),
  }),
  operation({
    ...aggregateDocs,
    name: 'addHostToAggregate',
    method: 'POST',
    path: actionPath,
    action: 'add_host',
    summary: 'Add a host to an aggregate',
    description: 'Adds a host to an aggregate. A host can be in several aggregates, but in only one availability zone.',
    policy: 'os_compute_api:os-aggregates:add_host',
    status: 200,
    errors: [400, 404, 409],
    when: {
      409: 'The host is already in the aggregate, belongs to another availability zone, or has servers whose zone would change.',
    },
    body: object({ add_host: described('The host to add.', hostBody) }),
    reply: { aggregate: described(aggregateTexts.aggregate, aggregate) },
    run: async ({ engine, params, body }) => ({
      aggregate: await engine.aggregates.addHost(parseAggregateId(params.id), body.add_host.host),
    }),
  }),
  operation({
    ...aggregateDocs,
    name: 'removeHostFromAggregate',
    method: 'POST',
    path: actionPath,
    action: 'remove_host',
    summary: 'Remove a host from an aggregate',
    description: 'Removes a host from an aggregate.',
    policy: 'os_compute_api:os-aggregates:remove_host',
    status: 200,
    errors: [400, 404, 409],
    when: {
      409: 'The host has servers in the availability zone of the aggregate, or another request changed the host concurrently.',
    },
    body: object({ remove_host: described('The host to remove.', hostBody) }),
    reply: { aggregate: described(aggregateTexts.aggregate, aggregate) },
    run: async ({ engine, params, body }) => ({
      aggregate: await engine.aggregates.removeHost(parseAggregateId(params.id), body.remove_host.host),
    }),
  }),
  operation({
    ...aggregateDocs,
    name: 'setAggregateMetadata',
    method: 'POST',
    path: actionPath,
    action: 'set_metadata',
    summary: 'Create, replace or remove metadata of an aggregate',
    description:
      'Creates or replaces metadata items, and removes items whose value is null. Other items are unchanged. The key `availability_zone` sets the availability zone of the aggregate, which cannot be removed.',
    policy: 'os_compute_api:os-aggregates:set_metadata',
    status: 200,
    errors: [400, 404],
    when: {
      400: 'The request body is malformed or would remove the availability zone, or a host in the aggregate has servers or belongs to another availability zone.',
    },
    body: object({
      set_metadata: described(
        'The metadata to set.',
        object({ metadata: described('Metadata items to set. A null value removes the item.', metadataWithNull) }),
      ),
    }),
    reply: { aggregate: described(aggregateTexts.aggregate, aggregate) },
    run: async ({ engine, params, body }) => ({
      aggregate: await engine.aggregates.setMetadata(parseAggregateId(params.id), body.set_metadata.metadata),
    }),
  }),
  operation({
    ...aggregateDocs,
    name: 'cacheAggregateImages',
    method: 'POST',
    path: '/os-aggregates/{id}/images',
    window: since('2.81', true),
    summary: 'Cache images on the hosts in an aggregate',
    description:
      'Starts caching images on all hosts in an aggregate, so that the first server created from an image starts faster. Asynchronous: the response is sent before the images are downloaded, and the API does not report the result.',
    policy: 'compute:aggregates:images',
    status: 202,
    errors: [400, 404],
    body: object({
      cache: described(
        'Images to cache, without duplicates.',
        z.array(z.strictObject({ id: uuid.describe('UUID of an image.') })).min(1),
      ),
    }),
    run: async ({ engine, context, params, body }) => {
      const imageIds = body.cache.map(({ id }) => id);
      if (new Set(imageIds).size < imageIds.length) throw new Rejection('BAD_REQUEST', 'Duplicate images in request');
      await engine.aggregates.cacheImages(context, parseAggregateId(params.id), imageIds);
    },
  }),
];
