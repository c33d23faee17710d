import { type ActionEvent, type InstanceAction, Rejection } from '@apistrata/compute-engine';
import { at, since, until } from '@apistrata/microversion';
import { field, nestedList, type ViewShape, view } from '@apistrata/microversion/router';
import { once, query } from '@apistrata/microversion/schema';
import { z } from 'zod';
import type { ComputeCall } from '../../http/call.js';
import { nextLink, pageSize } from '../../http/paging.js';
import { operation } from '../../operation.js';
import { dateTimeText } from '../../schemas/date-time.js';
import * as type from '../../schemas/reply-types.js';
import { limitText } from '../../schemas/types.js';
import { hostIdOf } from '../../views/server-parts.js';
import { instanceActionDocs } from './instance-actions.docs.js';

interface ShownAction {
  readonly action: InstanceAction;
  readonly projectId: string;
}

const base: ViewShape<ShownAction, ComputeCall> = {
  action: field(z.string(), ({ action }) => action.action),
  instance_uuid: field(z.string(), ({ action }) => action.serverId),
  message: field(type.nullableText, ({ action }) => action.message),
  project_id: field(z.string(), ({ action }) => action.projectId),
  request_id: field(z.string(), ({ action }) => action.requestId),
  start_time: field(type.time, ({ action }) => type.showTime(action.startTime)),
  user_id: field(z.string(), ({ action }) => action.userId),
  updated_at: since(
    '2.58',
    field(type.nullableTime, ({ action }) => type.showNullableTime(action.updatedAt ?? action.startTime)),
  ),
};

const listed = view<ShownAction, ComputeCall>(base);

interface ShownEvent extends ActionEvent {
  readonly projectId: string;
}

const canReadEvents = (call: ComputeCall) => call.can('os_compute_api:os-instance-actions:events');

const event = view<ShownEvent, ComputeCall>({
  event: field(z.string(), (e) => e.name),
  start_time: field(type.time, (e) => type.showTime(e.startTime)),
  finish_time: field(type.nullableTime, (e) => type.showNullableTime(e.finishTime)),
  result: field(type.nullableText, (e) => e.result),
  traceback: field(type.nullableText.optional(), (e, call) => (canReadEvents(call) ? e.traceback : undefined)),
  hostId: since(
    '2.62',
    field(z.string(), (e) => hostIdOf(e.projectId, e.host)),
  ),
  host: since(
    '2.62',
    field(type.nullableText.optional(), (e, call) => (canReadEvents(call) ? (e.host ?? '') : undefined)),
  ),
  details: since(
    '2.84',
    field(type.nullableText.optional(), (e, call) =>
      call.can('os_compute_api:os-instance-actions:events:details') ? e.details : undefined,
    ),
  ),
});

/** Returns the events, newest first. */
function eventsOf({ action, projectId }: ShownAction): readonly ShownEvent[] {
  return [...action.events].sort((a, b) => b.startTime - a.startTime).map((e) => ({ ...e, projectId }));
}

const shown = view<ShownAction, ComputeCall>({
  ...base,
  events: [
    until(
      '2.50',
      nestedList(event, (a: ShownAction, call: ComputeCall) => (canReadEvents(call) ? eventsOf(a) : undefined)),
    ),
    since('2.51', nestedList(event, eventsOf)),
  ],
});

/** Since 2.21, the actions of deleted servers can be read. */
const includesDeleted = since('2.21', true);
const paged = since('2.58', true);

function server(call: ComputeCall & { readonly params: { readonly server_id: string } }) {
  return call.engine.servers.get(call.context, call.params.server_id, {
    deleted: at(includesDeleted, call.version) ?? false,
  });
}

export const serverHistory = [
  operation({
    ...instanceActionDocs,
    name: 'listInstanceActions',
    method: 'GET',
    path: '/servers/{server_id}/os-instance-actions',
    summary: 'List the actions on a server',
    description: 'Lists the actions on a server, newest first. Since 2.21, actions on deleted servers are included.',
    policy: 'os_compute_api:os-instance-actions:list',
    status: 200,
    errors: [until('2.57', [404]), since('2.58', [400, 404])],
    query: query(
      {
        limit: since('2.58', once(limitText)),
        marker: since('2.58', once(z.string())),
        'changes-since': since('2.58', once(dateTimeText)),
        'changes-before': since('2.66', once(dateTimeText)),
      },
      { extra: [until('2.57', 'ignore'), since('2.58', 'reject')] },
    ),
    target: server,
    reply: { instanceActions: [listed], links: since('2.58', type.collectionLinks.optional()) },
    run: async (call) => {
      const { limit, marker } = call.query;
      const changesSince = call.query['changes-since'];
      const changesBefore = call.query['changes-before'];
      if (changesSince !== undefined && changesBefore !== undefined && changesSince > changesBefore) {
        throw new Rejection('BAD_REQUEST', 'The value of changes-since must be less than or equal to changes-before.');
      }
      const size = at(paged, call.version) ? pageSize(call, limit) : undefined;
      const actions = await call.engine.instanceActions.list(call.target.id, {
        limit: size,
        marker,
        changesSince,
        changesBefore,
      });
      return {
        instanceActions: actions.map((action) => ({ action, projectId: call.target.projectId })),
        links: size === undefined ? undefined : nextLink(call, size, actions, ({ requestId }) => requestId),
      } as never;
    },
  }),
  operation({
    ...instanceActionDocs,
    name: 'showInstanceAction',
    method: 'GET',
    path: '/servers/{server_id}/os-instance-actions/{id}',
    summary: 'Show an action on a server',
    description:
      'Shows an action on a server. Its events are visible to administrators; since 2.51, to all callers, without details of hosts.',
    policy: 'os_compute_api:os-instance-actions:show',
    status: 200,
    errors: [404],
    target: server,
    reply: { instanceAction: shown },
    run: async ({ engine, target, params }) => ({
      instanceAction: { action: await engine.instanceActions.get(target.id, params.id), projectId: target.projectId },
    }),
  }),
];
