import type { Resource } from '../reference/resource.js';

export const aggregateDocs: Resource = {
  tag: 'aggregates',
  about:
    'Host aggregates: groups of hosts with metadata for the scheduler. An aggregate with an availability zone assigns its hosts to that zone.',
  parameters: { id: 'ID of the aggregate: an integer. The UUID of the aggregate is not accepted.' },
  when: { 409: 'Another request changed the aggregate concurrently.' },
  operations: {
    'GET /os-aggregates': ['listAggregates', 'Lists all aggregates with their hosts and metadata.'],
    'POST /os-aggregates': [
      'createAggregate',
      'Creates an aggregate without hosts, optionally with an availability zone.',
      { 409: 'An aggregate with this name exists.' },
    ],
    'GET /os-aggregates/{id}': ['showAggregate', 'Shows an aggregate with its hosts and metadata.'],
    'PUT /os-aggregates/{id}': [
      'updateAggregate',
      'Updates the name or the availability zone of an aggregate. The zone cannot change while hosts of the aggregate have servers.',
      {
        409: 'An aggregate with this name exists, or a host of the aggregate has servers or belongs to another availability zone.',
      },
    ],
    'DELETE /os-aggregates/{id}': [
      'deleteAggregate',
      'Deletes an aggregate. The aggregate must not contain hosts.',
      { 400: 'The aggregate contains hosts.' },
    ],
    'POST /os-aggregates/{id}/action add_host': [
      'addHostToAggregate',
      'Adds a host to an aggregate. A host can belong to several aggregates but to only one availability zone.',
      {
        409: 'The host is already in the aggregate, belongs to another availability zone, or has servers whose zone would change.',
      },
    ],
    'POST /os-aggregates/{id}/action remove_host': [
      'removeHostFromAggregate',
      'Removes a host from an aggregate.',
      { 409: 'The host has servers in the availability zone of the aggregate, or was changed concurrently.' },
    ],
    'POST /os-aggregates/{id}/action set_metadata': [
      'setAggregateMetadata',
      'Creates or replaces metadata items, and removes items whose value is null. Other items are unchanged. The key `availability_zone` sets the zone of the aggregate.',
      { 400: 'The request body is malformed, or the zone cannot change because hosts of the aggregate have servers.' },
    ],
    'POST /os-aggregates/{id}/images': [
      'cacheAggregateImages',
      'Requests that every host of the aggregate caches the images, so that the first server of an image starts faster. Asynchronous: the response is sent before the images are downloaded, and the API does not report the result.',
    ],
  },
  fields: {
    aggregates: 'The list of aggregates.',
    aggregate: 'An aggregate.',
    id: 'ID of the aggregate: an integer, used in paths.',
    uuid: 'UUID of the aggregate, as used by the placement service.',
    name: 'Name of the aggregate. Unique.',
    availability_zone: 'Availability zone of the hosts in the aggregate, or null.',
    hosts: 'Names of the hosts in the aggregate.',
    metadata: 'Key-value pairs that scheduler filters compare with flavors and images.',
    add_host: 'The host to add.',
    remove_host: 'The host to remove.',
    host: 'Name of the host, as reported by its compute service.',
    set_metadata: 'The metadata to set.',
    'set_metadata.metadata': 'Items to set. A null value removes the item.',
    cache: 'Images to cache. Must not contain duplicates.',
    'cache.id': 'UUID of an image.',
  },
};
