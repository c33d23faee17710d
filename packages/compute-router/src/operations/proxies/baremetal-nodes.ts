import { Rejection } from '@apistrata/compute-engine';
import { described } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { operation } from '../../operation.js';
import { volumeProxyDocs } from './proxy-docs.js';

const path = '/os-baremetal-nodes';

const changeOperations = [
  {
    name: 'createBaremetalNode',
    method: 'POST',
    path,
    description: 'Requests are always rejected. Use the bare metal service to create nodes.',
  },
  {
    name: 'deleteBaremetalNode',
    method: 'DELETE',
    path: `${path}/{id}`,
    description: 'Requests are always rejected. Use the bare metal service to delete nodes.',
  },
  {
    name: 'addBaremetalNodeInterface',
    method: 'POST',
    path: `${path}/{id}/action`,
    action: 'add_interface',
    description: 'Requests are always rejected. Use the bare metal service to change nodes.',
  },
  {
    name: 'removeBaremetalNodeInterface',
    method: 'POST',
    path: `${path}/{id}/action`,
    action: 'remove_interface',
    description: 'Requests are always rejected. Use the bare metal service to change nodes.',
  },
] as const;

/**
 * The list is always empty and changes are always rejected, because there is no bare metal service to forward requests
 * to.
 */
export const baremetalProxies = [
  operation({
    ...volumeProxyDocs,
    name: 'listBaremetalNodes',
    method: 'GET',
    path,
    summary: 'List bare metal nodes',
    description: 'Lists bare metal nodes. The list is always empty.',
    policy: 'os_compute_api:os-baremetal-nodes:list',
    status: 200,
    reply: { nodes: described('The list of nodes, which is always empty.', z.array(z.never())) },
    run: () => ({ nodes: [] }),
  }),
  operation({
    ...volumeProxyDocs,
    name: 'showBaremetalNode',
    method: 'GET',
    path: `${path}/{id}`,
    summary: 'Show a bare metal node',
    description: 'Shows a bare metal node. Always returns 404.',
    policy: 'os_compute_api:os-baremetal-nodes:show',
    status: 200,
    errors: [404],
    reply: { node: described('A node.', z.never()) },
    run: ({ params: { id } }) => {
      throw new Rejection('NOT_FOUND', `Node ${id} could not be found.`);
    },
  }),
  ...changeOperations.map((change) =>
    operation({
      ...volumeProxyDocs,
      ...change,
      summary: 'Change bare metal nodes (always rejected)',
      status: 200,
      errors: [400],
      run: () => {
        throw new Rejection(
          'BAD_REQUEST',
          'Bare metal nodes cannot be changed through this API. Use the bare metal service.',
        );
      },
    }),
  ),
];
