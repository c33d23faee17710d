import type { Resource } from '../description/resource.js';

export const aggregateDocs: Resource = {
  tag: 'aggregates',
  about:
    'Groups of hosts with metadata that the scheduler reads; one with a zone makes its hosts that availability zone.',
  parameters: { id: 'Number of the aggregate; its UUID, shown from 2.41 on, is no substitute here' },
  when: { 409: 'Somebody else changed the aggregate meanwhile' },
  operations: {
    'GET /os-aggregates': ['listAggregates', 'All aggregates with their hosts and metadata.'],
    'POST /os-aggregates': [
      'createAggregate',
      'Makes an aggregate without hosts, with a zone if one is named.',
      { 409: 'Another aggregate has that name' },
    ],
    'GET /os-aggregates/{id}': ['showAggregate', 'One aggregate with its hosts and metadata.'],
    'PUT /os-aggregates/{id}': [
      'updateAggregate',
      'Renames an aggregate, or gives it another zone. A zone whose hosts have servers cannot change.',
      { 409: 'Another aggregate has that name, or the hosts are in another zone or have servers' },
    ],
    'DELETE /os-aggregates/{id}': [
      'deleteAggregate',
      'Deletes an aggregate that has no hosts.',
      { 400: 'The aggregate still has hosts' },
    ],
    'POST /os-aggregates/{id}/action add_host': [
      'addHostToAggregate',
      'Puts a host into the aggregate. A host may be in several, but only in one with a zone.',
      { 409: 'The host is in it already, is in another zone, or has servers that the zone would change for' },
    ],
    'POST /os-aggregates/{id}/action remove_host': [
      'removeHostFromAggregate',
      'Takes a host out of the aggregate.',
      { 409: 'The host has servers in the zone of the aggregate, or changed meanwhile' },
    ],
    'POST /os-aggregates/{id}/action set_metadata': [
      'setAggregateMetadata',
      'Sets metadata items, and removes those whose value is null; others stay. `availability_zone` is the zone.',
      { 400: 'The body is malformed, or the zone cannot change because the hosts have servers' },
    ],
    'POST /os-aggregates/{id}/images': [
      'cacheAggregateImages',
      'Has every host of the aggregate fetch images before the first server needs them, so that this one starts sooner. Returns at once; nobody reports the outcome.',
    ],
  },
  fields: {
    aggregates: 'All aggregates',
    aggregate: 'An aggregate',
    id: 'Number of the aggregate, by which paths name it',
    uuid: 'UUID of the aggregate, by which the placement service knows it. New in 2.41',
    name: 'Name of the aggregate, unique among all',
    availability_zone: 'The zone that its hosts form, or null for none',
    hosts: 'Names of the hosts in the aggregate',
    metadata: 'Keyed texts that filters of the scheduler compare with flavors and images',
    add_host: 'Says which host to add',
    remove_host: 'Says which host to remove',
    host: 'Name of the host, as its compute service calls itself',
    set_metadata: 'Says which metadata to set',
    'set_metadata.metadata': 'Items to set; null removes one',
    cache: 'Images to fetch, each named once',
    'cache.id': 'Id of an image, a UUID',
  },
};
