import { resource } from '../../reference/resource.js';

export const serverMetadataDocs = resource({
  tag: 'server-metadata',
  parameters: { id: 'Key of the metadata item.' },
  when: {
    403: 'The policy does not allow it, or the quota for metadata items is exceeded.',
    409: 'The server is locked, or its state does not allow it.',
  },
  fields: {
    metadata:
      'Key-value pairs. Keys have 1 to 255 characters: letters, digits, `-`, `_`, `:`, `.` and spaces. Values have at most 255 characters.',
    meta: 'A metadata item, as an object with one key.',
  },
});

export const serverAddressDocs = resource({
  tag: 'server-addresses',
  parameters: { id: 'Label of the network.' },
  fields: {
    addresses: 'IP addresses by network label.',
    version: 'IP version: 4 or 6.',
    addr: 'The IP address.',
  },
});
