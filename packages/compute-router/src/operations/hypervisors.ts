import { type Node, Rejection } from '@apistrata/compute-engine';
import type { Hypervisor, HypervisorParts } from '@apistrata/compute-engine/api';
import { at, between, since, until } from '@apistrata/microversion';
import { described, once, one, query } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { requireValueAt } from '../defined-at.js';
import type { ComputeCall } from '../http/call.js';
import { nextLink, pageSize } from '../http/paging.js';
import { operation } from '../operation.js';
import { commonTexts } from '../reference/common-texts.js';
import { resource } from '../reference/resource.js';
import { collectionLinks } from '../schemas/reply-types.js';
import { fqdn, lenientBoolean, limitSchema } from '../schemas/types.js';
import {
  hypervisorDetail,
  hypervisorSearchResult,
  hypervisorServers,
  hypervisorStatistics,
  hypervisorSummary,
  hypervisorTexts,
  hypervisorUptime,
} from '../views/hypervisor.js';
import { parseNumericId, parseUuid } from './id-in-path.js';

const hypervisorDocs = resource({
  tag: 'hypervisors',
  parameters: {
    id: 'ID of the hypervisor: an integer until 2.52, a UUID since 2.53. In paths that end with `search` or `servers`, a part of the hypervisor hostname.',
  },
  when: { 501: 'The driver of the host does not support the operation.' },
});

type HostPredicate = (host: Hypervisor['host']) => boolean;

/**
 * Creates the predicate that matches the hypervisor with the id in the path: an integer until 2.52, a UUID since 2.53.
 */
const hostPredicate = [
  until(
    '2.52',
    (id: string): HostPredicate =>
      ({ node }) =>
        node.seq === parseNumericId(id),
  ),
  since('2.53', (id: string): HostPredicate => {
    const uuid = parseUuid(id);
    if (uuid === undefined) throw new Rejection('BAD_REQUEST', `Invalid uuid ${id}`);
    return ({ node }) => node.id === uuid;
  }),
];

/**
 * Creates the predicate that matches the last hypervisor on the previous page. A malformed id is handled like an
 * unknown id.
 */
const markerPredicate = [
  until(
    '2.52',
    (id: string): HostPredicate =>
      ({ node }) =>
        node.seq === parseNumericId(id),
  ),
  since(
    '2.53',
    (id: string): HostPredicate =>
      ({ node }) =>
        node.id === parseUuid(id),
  ),
];

const nodeIdOf = [until('2.52', (node: Node) => String(node.seq)), since('2.53', (node: Node) => node.id)];

const supportsPaging = since('2.33', true);
/** Since 2.88, hypervisor details contain the uptime. */
const listsUptime = since('2.88', true);

const extraParameters = [until('2.52', 'ignore' as const), since('2.53', 'reject' as const)];
const withServersQuery = {
  with_servers: since(
    '2.53',
    described('Whether to include the servers of each hypervisor. Default: false.', once(lenientBoolean)),
  ),
};
const listQuery = query(
  {
    ...withServersQuery,
    limit: [
      between('2.33', '2.52', described(commonTexts.limit, one(limitSchema))),
      since('2.53', described(commonTexts.limit, once(limitSchema))),
    ],
    marker: [
      between('2.33', '2.52', described(commonTexts.marker, one(z.string()))),
      since('2.53', described(commonTexts.marker, once(z.string()))),
    ],
    hypervisor_hostname_pattern: since(
      '2.53',
      described(
        'Returns only hypervisors whose hostname contains this string. If there are none, the response is 404. Cannot be combined with `limit` or `marker`.',
        once(fqdn),
      ),
    ),
  },
  { extra: extraParameters },
);

type ListQuery = ReturnType<typeof listQuery.parse>['value'];

async function pageOf(call: ComputeCall, requested: ListQuery, includedDetails: HypervisorParts) {
  const { limit, marker, with_servers: servers, hypervisor_hostname_pattern: pattern } = requested;
  if (pattern !== undefined && (limit !== undefined || marker !== undefined)) {
    throw new Rejection(
      'BAD_REQUEST',
      'Paging over hypervisors with the hypervisor_hostname_pattern query parameter is not supported.',
    );
  }
  const size = at(supportsPaging, call.version) && pattern === undefined ? pageSize(call, limit) : undefined;
  const hypervisors = await call.engine.hypervisors.list({
    ...includedDetails,
    servers,
    limit: size,
    marker:
      marker === undefined ? undefined : { id: marker, is: requireValueAt(markerPredicate, call.version)(marker) },
    pattern,
  });
  const markerOf = ({ host: { node } }: Hypervisor) => requireValueAt(nodeIdOf, call.version)(node);
  return {
    hypervisors,
    hypervisors_links: size === undefined ? undefined : (nextLink(call, size, hypervisors, markerOf) as never),
  };
}

/** Until 2.32, hypervisor lists do not have query parameters and return all hypervisors. */
function listOperation(path: '/os-hypervisors' | '/os-hypervisors/detail') {
  return {
    method: 'GET',
    path,
    status: 200,
    errors: [until('2.32', []), between('2.33', '2.52', [400]), since('2.53', [400, 404])],
    query: listQuery,
  } as const;
}

/** Common definition of operations whose path contains a part of a hypervisor hostname instead of an id. */
const hostnameOperation = { method: 'GET', window: until('2.52', true as const), status: 200, errors: [404] } as const;

export const hypervisorOperations = [
  operation({
    ...hypervisorDocs,
    name: 'listHypervisors',
    ...listOperation('/os-hypervisors'),
    summary: 'List hypervisors',
    description: 'Lists the ID, hostname, state and status of all hypervisors.',
    policy: 'os_compute_api:os-hypervisors:list',
    reply: {
      hypervisors: described(hypervisorTexts.hypervisors, [hypervisorSummary]),
      hypervisors_links: since('2.33', described(hypervisorTexts.hypervisorsLinks, collectionLinks.optional())),
    },
    run: (call) => pageOf(call, call.query, {}),
  }),
  operation({
    ...hypervisorDocs,
    name: 'listHypervisorsDetail',
    ...listOperation('/os-hypervisors/detail'),
    summary: 'List hypervisors with details',
    description:
      'Lists all hypervisors with details. Since 2.88, the placement service reports capacity and usage instead.',
    policy: 'os_compute_api:os-hypervisors:list-detail',
    reply: {
      hypervisors: described(hypervisorTexts.hypervisors, [hypervisorDetail]),
      hypervisors_links: since('2.33', described(hypervisorTexts.hypervisorsLinks, collectionLinks.optional())),
    },
    run: (call) => pageOf(call, call.query, { uptime: at(listsUptime, call.version) }),
  }),
  operation({
    ...hypervisorDocs,
    name: 'showHypervisorStatistics',
    method: 'GET',
    path: '/os-hypervisors/statistics',
    window: until('2.87', true),
    summary: 'Show summary statistics for all enabled hypervisors',
    description:
      'Shows summary statistics for all hypervisors whose service is enabled, including hypervisors that are down. If resources are shared or overcommitted, the sums are inaccurate; use the placement service instead.',
    policy: 'os_compute_api:os-hypervisors:statistics',
    status: 200,
    query: query({}, { extra: 'ignore' }),
    reply: { hypervisor_statistics: described('Summary statistics of enabled hypervisors.', hypervisorStatistics) },
    run: async ({ engine }) => {
      const allHypervisors = await engine.hypervisors.list();
      return { hypervisor_statistics: allHypervisors.filter(({ host }) => !host.service.disabled) };
    },
  }),
  operation({
    ...hypervisorDocs,
    name: 'showHypervisor',
    method: 'GET',
    path: '/os-hypervisors/{id}',
    summary: 'Show a hypervisor',
    description: 'Shows a hypervisor with details.',
    policy: 'os_compute_api:os-hypervisors:show',
    status: 200,
    errors: [until('2.52', [404]), since('2.53', [400, 404])],
    query: query(withServersQuery, { extra: extraParameters }),
    reply: { hypervisor: described(hypervisorTexts.hypervisor, hypervisorDetail) },
    run: async ({ engine, params: { id }, query: { with_servers: servers }, version }) => ({
      hypervisor: await engine.hypervisors.get(id, requireValueAt(hostPredicate, version)(id), {
        servers,
        uptime: at(listsUptime, version),
      }),
    }),
  }),
  operation({
    ...hypervisorDocs,
    name: 'searchHypervisors',
    ...hostnameOperation,
    path: '/os-hypervisors/{id}/search',
    summary: 'Search hypervisors by hostname',
    description:
      'Lists hypervisors whose hostname contains the string in the path. Returns 404 if there are none. This operation was replaced by the query parameter `hypervisor_hostname_pattern` of the hypervisor list.',
    policy: 'os_compute_api:os-hypervisors:search',
    reply: { hypervisors: described(hypervisorTexts.hypervisors, [hypervisorSearchResult]) },
    run: async ({ engine, params }) => ({ hypervisors: await engine.hypervisors.list({ pattern: params.id }) }),
  }),
  operation({
    ...hypervisorDocs,
    name: 'listHypervisorServers',
    ...hostnameOperation,
    path: '/os-hypervisors/{id}/servers',
    summary: 'List the servers of hypervisors by hostname',
    description:
      'Lists hypervisors whose hostname contains the string in the path, with their servers. Returns 404 if there are none. This operation was replaced by the query parameter `with_servers` of the hypervisor list.',
    policy: 'os_compute_api:os-hypervisors:servers',
    reply: { hypervisors: described(hypervisorTexts.hypervisors, [hypervisorServers]) },
    run: async ({ engine, params }) => ({
      hypervisors: await engine.hypervisors.list({ pattern: params.id, servers: true }),
    }),
  }),
  operation({
    ...hypervisorDocs,
    name: 'showHypervisorUptime',
    method: 'GET',
    path: '/os-hypervisors/{id}/uptime',
    window: until('2.87', true),
    summary: 'Show the uptime of a hypervisor',
    description: 'Shows the uptime of a hypervisor. This operation was replaced by the hypervisor field `uptime`.',
    policy: 'os_compute_api:os-hypervisors:uptime',
    status: 200,
    errors: [400, 404, 501],
    when: { ...hypervisorDocs.when, 400: 'The host is down.' },
    query: query({}, { extra: 'ignore' }),
    reply: { hypervisor: described(hypervisorTexts.hypervisor, hypervisorUptime) },
    run: async ({ engine, params: { id }, version }) => ({
      hypervisor: await engine.hypervisors.uptime(id, requireValueAt(hostPredicate, version)(id)),
    }),
  }),
];
