import { type ActionEvent, type InstanceAction, Rejection, type Server } from '@apistrata/compute-engine';
import { at, since, until } from '@apistrata/microversion';
import { described, once, query } from '@apistrata/microversion/schema';
import { nestedList, type ViewShape, view } from '@apistrata/microversion-router';
import { z } from 'zod';
import type { ComputeCall } from '../../http/call.js';
import { nextLink, pageSize } from '../../http/paging.js';
import { operation } from '../../operation.js';
import { commonTexts } from '../../reference/common-texts.js';
import { resource } from '../../reference/resource.js';
import { dateTimeText } from '../../schemas/date-time.js';
import * as type from '../../schemas/reply-types.js';
import { limitSchema } from '../../schemas/types.js';
import { field, nullableText, nullableTime, text, time } from '../../views/fields.js';
import { hostIdOf } from '../../views/server-parts.js';

const instanceActionDocs = resource({
  tag: 'instance-actions',
  parameters: { id: 'ID of the request that started the action, in the format `req-UUID`.' },
});

/** OpenAPI descriptions that several fields share. */
export const instanceActionTexts = {
  startTime: 'Start time, in UTC with microsecond precision.',
  events: 'Events of the action, newest first. Until 2.50, administrators only; since 2.51, all callers.',
} as const;

/** Returns the id of the project that owns the server whose actions are shown. */
const projectOf = (call: ComputeCall) => (call.target as Pick<Server, 'projectId'>).projectId;

const baseFields: ViewShape<InstanceAction, ComputeCall> = {
  action: text('Name of the action, such as `create` or `reboot`.', (action) => action.action),
  instance_uuid: text(commonTexts.serverUuid, (action) => action.serverId),
  message: nullableText('Error message, or null.', (action) => action.message),
  project_id: text('ID of the project of the user who requested the action.', (action) => action.projectId),
  request_id: text(
    'ID of the request that started the action. Paths use it as the ID of the action.',
    (action) => action.requestId,
  ),
  start_time: time(instanceActionTexts.startTime, (action) => action.startTime),
  user_id: text('ID of the user who requested the action.', (action) => action.userId),
  updated_at: since(
    '2.58',
    nullableTime(
      'Time of the last change to the action, in UTC with microsecond precision.',
      (action) => action.updatedAt ?? action.startTime,
    ),
  ),
};

/** The representation of an action in lists. Its JSON does not depend on the request, so it is cached. */
const listedAction = view<InstanceAction, ComputeCall>(baseFields, { cacheKey: () => '' });

interface ProjectEvent extends ActionEvent {
  readonly projectId: string;
}

const canReadEvents = (call: ComputeCall) => call.can('os_compute_api:os-instance-actions:events');

const event = view<ProjectEvent, ComputeCall>({
  event: text('Name of the event.', (e) => e.name),
  start_time: time(instanceActionTexts.startTime, (e) => e.startTime),
  finish_time: nullableTime(
    'End time, in UTC with microsecond precision. Null while the event is in progress.',
    (e) => e.finishTime,
  ),
  result: nullableText(
    'Result of the event: `Success` or `Error`. Null while the event is in progress.',
    (e) => e.result,
  ),
  traceback: field('Traceback of the error, or null. Administrators only.', type.nullableText.optional(), (e, call) =>
    canReadEvents(call) ? e.traceback : undefined,
  ),
  hostId: since(
    '2.62',
    text('Opaque identifier of the host, which equals the server field `hostId`. Empty if there is no host.', (e) =>
      hostIdOf(e.projectId, e.host),
    ),
  ),
  host: since(
    '2.62',
    field('Name of the host. Administrators only.', type.nullableText.optional(), (e, call) =>
      canReadEvents(call) ? (e.host ?? '') : undefined,
    ),
  ),
  details: since(
    '2.84',
    field('Error details that are intended for users, or null.', type.nullableText.optional(), (e, call) =>
      call.can('os_compute_api:os-instance-actions:events:details') ? e.details : undefined,
    ),
  ),
});

/** Returns the events of an action, newest first. */
function eventsOf(action: InstanceAction, call: ComputeCall): readonly ProjectEvent[] {
  const projectId = projectOf(call);
  return [...action.events].sort((a, b) => b.startTime - a.startTime).map((e) => ({ ...e, projectId }));
}

const shownAction = view<InstanceAction, ComputeCall>({
  ...baseFields,
  events: [
    until(
      '2.50',
      described(
        instanceActionTexts.events,
        nestedList(event, (action: InstanceAction, call: ComputeCall) =>
          canReadEvents(call) ? eventsOf(action, call) : undefined,
        ),
      ),
    ),
    since('2.51', described(instanceActionTexts.events, nestedList(event, eventsOf))),
  ],
});

/** Since 2.21, clients can read the actions of deleted servers. */
const includesDeleted = since('2.21', true);
const supportsPaging = since('2.58', true);

function findServer(call: ComputeCall & { readonly params: { readonly server_id: string } }) {
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
        limit: since('2.58', described(commonTexts.limit, once(limitSchema))),
        marker: since(
          '2.58',
          described(
            'Request ID of the last action on the previous page. If the action does not exist, the response is 400.',
            once(z.string()),
          ),
        ),
        'changes-since': since(
          '2.58',
          described(
            'Returns only actions whose last change was at or after this time (ISO 8601). A time without a zone is in UTC.',
            once(dateTimeText),
          ),
        ),
        'changes-before': since('2.66', described(commonTexts.changesBefore, once(dateTimeText))),
      },
      { extra: [until('2.57', 'ignore'), since('2.58', 'reject')] },
    ),
    target: findServer,
    reply: {
      instanceActions: described('The actions on this page.', [listedAction]),
      links: since(
        '2.58',
        described('Link to the next page. Absent if this page is not full.', type.collectionLinks.optional()),
      ),
    },
    run: async (call) => {
      const { limit, marker } = call.query;
      const changesSince = call.query['changes-since'];
      const changesBefore = call.query['changes-before'];
      if (changesSince !== undefined && changesBefore !== undefined && changesSince > changesBefore) {
        throw new Rejection('BAD_REQUEST', 'The value of changes-since must be less than or equal to changes-before.');
      }
      const size = at(supportsPaging, call.version) ? pageSize(call, limit) : undefined;
      const actions = await call.engine.instanceActions.list(call.target.id, {
        limit: size,
        marker,
        changesSince,
        changesBefore,
      });
      return {
        instanceActions: actions,
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
      'Shows an action on a server. Until 2.50, only administrators see its events. Since 2.51, all callers see them, but without host details.',
    policy: 'os_compute_api:os-instance-actions:show',
    status: 200,
    errors: [404],
    target: findServer,
    reply: { instanceAction: described('An action.', shownAction) },
    run: async ({ engine, target, params }) => ({
      instanceAction: await engine.instanceActions.get(target.id, params.id),
    }),
  }),
];
