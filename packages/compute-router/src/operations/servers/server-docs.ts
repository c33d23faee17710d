import { resource } from '../../reference/resource.js';
import { serverById } from './target.js';

export const serverDocs = resource({
  tag: 'servers',
  parameters: { id: 'UUID of the server.' },
  when: {
    409: 'The status, the task state or the lock of the server does not allow the operation.',
    501: 'The driver of the host does not support the operation.',
  },
});

/** The definition that all actions on a server have in common. */
export const serverAction = {
  ...serverDocs,
  method: 'POST',
  path: '/servers/{id}/action',
  status: 202,
  target: serverById,
} as const;
