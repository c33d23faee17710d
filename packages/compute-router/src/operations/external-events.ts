import type { ExternalEvent, ExternalEventName } from '@apistrata/compute-engine/api';
import { between, since, until } from '@apistrata/microversion';
import { prepareResponse } from '@apistrata/microversion/router';
import { derive, object } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { operation } from '../operation.js';
import * as type from '../schemas/types.js';
import { externalEventDocs } from './external-services.docs.js';

const network = ['network-changed', 'network-vif-plugged', 'network-vif-unplugged', 'network-vif-deleted'] as const;
const extended = [...network, 'volume-extended'] as const;
const powered = [...extended, 'power-update'] as const;
const bound = [...powered, 'accelerator-request-bound'] as const;

const name = [
  until('2.50', z.enum(network)),
  between('2.51', '2.75', z.enum(extended)),
  between('2.76', '2.81', z.enum(powered)),
  between('2.82', '2.92', z.enum(bound)),
  since('2.93', z.enum([...bound, 'volume-reimaged'])),
];

const status = z.enum(['failed', 'completed', 'in-progress']);
const tag = z.string().max(255).optional();

const event = object({ name, server_uuid: type.uuid, status: status.default('completed'), tag });

const received = object({
  name,
  server_uuid: z.string(),
  status,
  tag,
  code: z.union([z.literal(200), z.literal(400), z.literal(404), z.literal(422)]),
});

type Received = Omit<ExternalEvent, 'serverId' | 'name'> & { name: ExternalEventName; server_uuid: string };

export const externalEvents = operation({
  ...externalEventDocs,
  name: 'createExternalEvents',
  method: 'POST',
  path: '/os-server-external-events',
  summary: 'Create external events of servers',
  description:
    'Reports events of other services. Each event has its own result; the status is 207 if at least one event was not accepted. Each event type has a minimum version.',
  policy: 'os_compute_api:os-server-external-events:create',
  status: 200,
  errors: [403],
  body: object({ events: derive(event, (one) => one.array().min(1)) }),
  reply: { events: derive(received, (one) => one.array()) },
  run: async ({ engine, context, body }) => {
    const events = body.events as readonly Received[];
    const received = events.map(({ server_uuid, ...rest }) => ({ ...rest, serverId: server_uuid }));
    const codes = await engine.externalEvents.receive(context, received);
    const responded = codes.map((code, index) => {
      const one = events[index] as Received;
      return { ...one, code, status: code === 200 ? one.status : ('failed' as const) };
    });
    const allAccepted = codes.every((code) => code === 200);
    return prepareResponse({ status: allAccepted ? 200 : 207, body: { events: responded } });
  },
});
