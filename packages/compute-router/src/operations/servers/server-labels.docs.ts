import type { Resource } from '../../description/resource.js';

export const serverMetadataDocs: Resource = {
  tag: 'server-metadata',
  about: 'Texts by key that owners keep with servers, one by one or all together.',
  parameters: { id: 'Key of the item' },
  when: {
    403: 'The policy does not allow it, or there would be more items than the quota allows',
    409: 'The server is locked, or in a state without metadata',
  },
  operations: {
    'GET /servers/{server_id}/metadata': ['listServerMetadata', 'All metadata of a server.'],
    'POST /servers/{server_id}/metadata': ['updateServerMetadata', 'Sets items; others stay.'],
    'PUT /servers/{server_id}/metadata': ['replaceServerMetadata', 'Replaces all metadata of a server.'],
    'GET /servers/{server_id}/metadata/{id}': ['showServerMetadataItem', 'One item.'],
    'PUT /servers/{server_id}/metadata/{id}': [
      'updateServerMetadataItem',
      'Sets one item. The body has its key as the only one, the same as in the path.',
    ],
    'DELETE /servers/{server_id}/metadata/{id}': ['deleteServerMetadataItem', 'Removes one item.'],
  },
  fields: {
    metadata:
      'Texts by key: keys of 1 to 255 letters, digits, `-`, `_`, `:`, `.` and spaces, values of at most 255 characters',
    meta: 'One item by its key',
  },
};

export const serverTagDocs: Resource = {
  tag: 'server-tags',
  about: 'Labels to find servers by. New in 2.26.',
  parameters: { id: 'The tag' },
  when: { 409: 'The server is in a state without tags, or is locked' },
  operations: {
    'GET /servers/{server_id}/tags': ['listServerTags', 'All tags of a server.'],
    'PUT /servers/{server_id}/tags': ['replaceServerTags', 'Replaces all tags of a server.'],
    'DELETE /servers/{server_id}/tags': ['deleteServerTags', 'Removes all tags of a server.'],
    'GET /servers/{server_id}/tags/{id}': [
      'checkServerTag',
      'Answers 204 if the server has the tag, and 404 if it has not.',
    ],
    'PUT /servers/{server_id}/tags/{id}': [
      'addServerTag',
      'Adds a tag: 201 if it is new, 204 if the server had it.',
      { 400: 'The tag is malformed, or the server has 50 tags' },
    ],
    'DELETE /servers/{server_id}/tags/{id}': ['deleteServerTag', 'Removes a tag.'],
  },
  fields: { tags: 'At most 50 labels of at most 60 characters, without comma and slash' },
};

export const serverAddressDocs: Resource = {
  tag: 'server-addresses',
  about: 'Addresses of servers by network.',
  parameters: { id: 'Label of the network' },
  operations: {
    'GET /servers/{server_id}/ips': ['listServerAddresses', 'The addresses of a server on all its networks.'],
    'GET /servers/{server_id}/ips/{id}': [
      'showServerAddresses',
      'The addresses of a server on one network, with its label as the only key.',
    ],
  },
  fields: {
    addresses: 'Addresses by the label of the network',
    version: '4 or 6',
    addr: 'The address',
  },
};
