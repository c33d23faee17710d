import { resource } from '../../reference/resource.js';
import { serverById } from './target.js';

export const serverDocs = resource({
  tag: 'servers',
  parameters: { id: 'UUID of the server.' },
  when: {
    409: 'The status or the task state of the server does not allow the operation, or the server is locked.',
    501: 'The driver of the host does not support the operation.',
  },
});

/** The part of the definition that all server actions share. */
export const serverAction = {
  ...serverDocs,
  method: 'POST',
  path: '/servers/{id}/action',
  status: 202,
  target: serverById,
} as const;
