import type { Resource } from '../../reference/resource.js';

export const serverMetadataDocs: Resource = {
  tag: 'server-metadata',
  about: 'Metadata of servers: key-value pairs set by users.',
  parameters: { id: 'Key of the metadata item.' },
  when: {
    403: 'The policy does not allow it, or the quota for metadata items is exceeded.',
    409: 'The server is locked, or its state does not allow it.',
  },
  operations: {
    'GET /servers/{server_id}/metadata': ['listServerMetadata', 'Lists the metadata of a server.'],
    'POST /servers/{server_id}/metadata': [
      'updateServerMetadata',
      'Creates or replaces metadata items of a server. Other items are unchanged. The server must be `ACTIVE`, `PAUSED`, `SUSPENDED` or `SHUTOFF`.',
    ],
    'PUT /servers/{server_id}/metadata': [
      'replaceServerMetadata',
      'Replaces all metadata of a server. The server must be `ACTIVE`, `PAUSED`, `SUSPENDED` or `SHUTOFF`.',
    ],
    'GET /servers/{server_id}/metadata/{id}': ['showServerMetadataItem', 'Shows a metadata item of a server.'],
    'PUT /servers/{server_id}/metadata/{id}': [
      'updateServerMetadataItem',
      'Creates or replaces a metadata item of a server. The request body has exactly one key, which must equal the key in the path. The server must be `ACTIVE`, `PAUSED`, `SUSPENDED` or `SHUTOFF`.',
    ],
    'DELETE /servers/{server_id}/metadata/{id}': [
      'deleteServerMetadataItem',
      'Deletes a metadata item of a server. The server must be `ACTIVE`, `PAUSED`, `SUSPENDED` or `SHUTOFF`.',
    ],
  },
  fields: {
    metadata:
      'Key-value pairs. Keys have 1 to 255 characters: letters, digits, `-`, `_`, `:`, `.` and spaces. Values have at most 255 characters.',
    meta: 'A metadata item, as an object with one key.',
  },
};

export const serverTagDocs: Resource = {
  tag: 'server-tags',
  about: 'Tags of servers, for filtering lists.',
  parameters: { id: 'The tag.' },
  when: { 409: 'The server is locked, or its state does not allow it.' },
  operations: {
    'GET /servers/{server_id}/tags': ['listServerTags', 'Lists the tags of a server.'],
    'PUT /servers/{server_id}/tags': ['replaceServerTags', 'Replaces all tags of a server.'],
    'DELETE /servers/{server_id}/tags': ['deleteServerTags', 'Deletes all tags of a server.'],
    'GET /servers/{server_id}/tags/{id}': [
      'checkServerTag',
      'Checks whether a server has a tag. Returns 204 if it does, otherwise 404.',
    ],
    'PUT /servers/{server_id}/tags/{id}': [
      'addServerTag',
      'Adds a tag to a server. Idempotent: returns 201 if the tag was added, 204 if the server already had it.',
      { 400: 'The tag is malformed, or the server already has 50 tags.' },
    ],
    'DELETE /servers/{server_id}/tags/{id}': ['deleteServerTag', 'Deletes a tag of a server.'],
  },
  fields: { tags: 'At most 50 tags of at most 60 characters. A tag must not contain a comma or a slash.' },
};

export const serverAddressDocs: Resource = {
  tag: 'server-addresses',
  about: 'IP addresses of servers by network.',
  parameters: { id: 'Label of the network.' },
  operations: {
    'GET /servers/{server_id}/ips': ['listServerAddresses', 'Lists the IP addresses of a server by network.'],
    'GET /servers/{server_id}/ips/{id}': [
      'showServerAddresses',
      'Shows the IP addresses of a server on one network. The only key of the response is the label of the network.',
    ],
  },
  fields: {
    addresses: 'IP addresses by network label.',
    version: 'IP version: 4 or 6.',
    addr: 'The IP address.',
  },
};
