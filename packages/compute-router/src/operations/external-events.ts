import type { ExternalEvent, ExternalEventName } from '@apistrata/compute-engine/api';
import { between, since, until } from '@apistrata/microversion';
import { derive, described, object } from '@apistrata/microversion/schema';
import { prepareResponse } from '@apistrata/microversion-router';
import { z } from 'zod';
import { operation } from '../operation.js';
import { commonTexts } from '../reference/common-texts.js';
import { resource } from '../reference/resource.js';
import * as type from '../schemas/types.js';

const externalEventDocs = resource({
  tag: 'external-events',
});

/** OpenAPI descriptions that several fields share. */
export const externalEventTexts = {
  eventsStatus: 'Result of the event: `completed`, `failed` or `in-progress`. Default: `completed`.',
  eventsTag:
    'Subject of the event: depending on its type, the ID of a port, volume or accelerator request, or the power state `POWER_ON` or `POWER_OFF`.',
  events: 'The list of events.',
} as const;

const eventTypes = ['network-changed', 'network-vif-plugged', 'network-vif-unplugged', 'network-vif-deleted'] as const;
const eventTypesSince251 = [...eventTypes, 'volume-extended'] as const;
const eventTypesSince276 = [...eventTypesSince251, 'power-update'] as const;
const eventTypesSince282 = [...eventTypesSince276, 'accelerator-request-bound'] as const;

const NAME_DESCRIPTION =
  'Type of the event: `network-changed`, `network-vif-plugged`, `network-vif-unplugged`, `network-vif-deleted`, `volume-extended` (since 2.51), `power-update` (since 2.76), `accelerator-request-bound` (since 2.82) or `volume-reimaged` (since 2.93).';

const name = [
  until('2.50', described(NAME_DESCRIPTION, z.enum(eventTypes))),
  between('2.51', '2.75', described(NAME_DESCRIPTION, z.enum(eventTypesSince251))),
  between('2.76', '2.81', described(NAME_DESCRIPTION, z.enum(eventTypesSince276))),
  between('2.82', '2.92', described(NAME_DESCRIPTION, z.enum(eventTypesSince282))),
  since('2.93', described(NAME_DESCRIPTION, z.enum([...eventTypesSince282, 'volume-reimaged']))),
];

const status = z.enum(['failed', 'completed', 'in-progress']);
const tag = z.string().max(255).optional();

const event = object({
  name,
  server_uuid: described(commonTexts.serverUuid, type.uuid),
  status: described(externalEventTexts.eventsStatus, status.default('completed')),
  tag: described(externalEventTexts.eventsTag, tag),
});

const received = object({
  name,
  server_uuid: described(commonTexts.serverUuid, z.string()),
  status: described(externalEventTexts.eventsStatus, status),
  tag: described(externalEventTexts.eventsTag, tag),
  code: described(
    'HTTP status for this event: 200 if it was accepted, 400 if the required tag is missing, 404 if the server does not exist, 422 if the server does not have a host.',
    z.union([z.literal(200), z.literal(400), z.literal(404), z.literal(422)]),
  ),
});

type ReceivedEvent = Omit<ExternalEvent, 'serverId' | 'name'> & { name: ExternalEventName; server_uuid: string };

export const externalEvents = operation({
  ...externalEventDocs,
  name: 'createExternalEvents',
  method: 'POST',
  path: '/os-server-external-events',
  summary: 'Create external events for servers',
  description:
    'Reports events from other services about servers. Each event in the response has its own status code. If at least one event was not accepted, the response status is 207. Some event types require a minimum microversion.',
  policy: 'os_compute_api:os-server-external-events:create',
  status: 200,
  errors: [403],
  body: object({
    events: described(
      externalEventTexts.events,
      derive(event, (item) => item.array().min(1)),
    ),
  }),
  reply: {
    events: described(
      externalEventTexts.events,
      derive(received, (item) => item.array()),
    ),
  },
  run: async ({ engine, context, body }) => {
    const events = body.events as readonly ReceivedEvent[];
    const received = events.map(({ server_uuid, ...rest }) => ({ ...rest, serverId: server_uuid }));
    const statusCodes = await engine.externalEvents.receive(context, received);
    const eventResults = statusCodes.map((code, index) => {
      const event = events[index] as ReceivedEvent;
      return { ...event, code, status: code === 200 ? event.status : ('failed' as const) };
    });
    const allAccepted = statusCodes.every((code) => code === 200);
    return prepareResponse({ status: allAccepted ? 200 : 207, body: { events: eventResults } });
  },
});
