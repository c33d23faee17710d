import { resource } from '../reference/resource.js';

export const aggregateDocs = resource({
  tag: 'aggregates',
  parameters: { id: 'ID of the aggregate: an integer. The UUID of the aggregate is not accepted.' },
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
});
