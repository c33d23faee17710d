import { Rejection } from '@apistrata/compute-engine';
import { z } from 'zod';
import { operation } from '../../operation.js';
import { proxied } from './window.js';

const path = '/os-baremetal-nodes';

const changes = [
  { method: 'POST', path },
  { method: 'DELETE', path: `${path}/{id}` },
  { method: 'POST', path: `${path}/{id}/action`, action: 'add_interface' },
  { method: 'POST', path: `${path}/{id}/action`, action: 'remove_interface' },
] as const;

/** No bare metal service is connected: the list is empty, and changes are always rejected. */
export const baremetalProxies = [
  operation({
    method: 'GET',
    path,
    window: proxied,
    summary: 'List bare metal nodes',
    policy: 'os_compute_api:os-baremetal-nodes:list',
    status: 200,
    reply: { nodes: z.array(z.never()) },
    run: () => ({ nodes: [] }),
  }),
  operation({
    method: 'GET',
    path: `${path}/{id}`,
    window: proxied,
    summary: 'Show a bare metal node',
    policy: 'os_compute_api:os-baremetal-nodes:show',
    status: 200,
    errors: [404],
    reply: { node: z.never() },
    run: ({ params: { id } }) => {
      throw new Rejection('NOT_FOUND', `Node ${id} could not be found.`);
    },
  }),
  ...changes.map((change) =>
    operation({
      ...change,
      window: proxied,
      summary: 'Change a bare metal node (always rejected)',
      status: 200,
      errors: [400],
      run: () => {
        throw new Rejection(
          'BAD_REQUEST',
          'Bare metal nodes cannot be changed through this API; use their own service.',
        );
      },
    }),
  ),
];
