import { Rejection } from '@apistrata/compute-engine';
import type { ServiceChange } from '@apistrata/compute-engine/api';
import { at, since, until, type Windowed } from '@apistrata/microversion';
import { described, object } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { operation } from '../operation.js';
import { resource } from '../reference/resource.js';
import { fqdn, lenientBoolean } from '../schemas/types.js';
import { serviceTexts } from '../views/service.js';

export const serviceDocs = resource({
  tag: 'services',
  parameters: {
    id: 'ID of the service: an integer until 2.52, a UUID since 2.53. In update requests until 2.52, the action: `enable`, `disable`, `disable-log-reason`, or since 2.11 `force-down`.',
  },
});

interface RequestedChange {
  readonly disabled_reason?: string;
  readonly forced_down?: boolean;
}

/** Fields of the response to an update, in addition to `host` and `binary`. */
interface UpdatedFields {
  readonly status?: 'enabled' | 'disabled';
  readonly disabled_reason?: string;
  readonly forced_down?: boolean;
}

type LegacyAction = (requested: RequestedChange) => {
  readonly change: ServiceChange;
  readonly responseFields: UpdatedFields;
};

function requireValue<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new Rejection('BAD_REQUEST', `Missing ${name} field`);
  return value;
}

/** The actions that the last path segment can contain. */
const legacyActions: ReadonlyMap<string, Windowed<LegacyAction>> = new Map<string, Windowed<LegacyAction>>([
  ['enable', () => ({ change: { disabled: false, disabledReason: null }, responseFields: { status: 'enabled' } })],
  ['disable', () => ({ change: { disabled: true }, responseFields: { status: 'disabled' } })],
  [
    'disable-log-reason',
    ({ disabled_reason }) => {
      const reason = requireValue(disabled_reason, 'disabled_reason');
      return {
        change: { disabled: true, disabledReason: reason },
        responseFields: { status: 'disabled', disabled_reason: reason },
      };
    },
  ],
  [
    'force-down',
    since('2.11', ({ forced_down }: RequestedChange) => {
      const forcedDown = requireValue(forced_down, 'forced_down');
      return { change: { forcedDown }, responseFields: { forced_down: forcedDown } };
    }),
  ],
]);

const updatedService = object({
  host: described(serviceTexts.host, z.string()),
  binary: described(serviceTexts.binary, z.string()),
  status: described(serviceTexts.status, z.enum(['enabled', 'disabled']).optional()),
  disabled_reason: described(serviceTexts.disabledReason, z.string().optional()),
  forced_down: since('2.11', described(serviceTexts.forcedDown, z.boolean().optional())),
});

export const updateServiceDefinition = {
  ...serviceDocs,
  name: 'updateService',
  description:
    'Enables or disables a compute service, or marks its host as down so that servers can be evacuated from it. The scheduler does not select the host of a disabled service. Services of other kinds cannot be updated. Until 2.52, the path contains the action, and the body contains the host and the binary of the service. Since 2.53, the path contains the ID of the service.',
} as const;

/**
 * The update operation until 2.52. The path contains the action, and the body identifies the service by host and
 * binary.
 */
export const legacyServiceUpdate = operation({
  ...updateServiceDefinition,
  method: 'PUT',
  path: '/os-services/{id}',
  window: until('2.52', true),
  summary: 'Enable a service, disable it, or mark its host as down (by host and binary)',
  policy: 'os_compute_api:os-services:update',
  status: 200,
  errors: [400, 404],
  body: object({
    host: described(serviceTexts.host, fqdn),
    binary: described(serviceTexts.binary, z.string().min(1).max(255)),
    disabled_reason: described(serviceTexts.disabledReason, z.string().min(1).max(255).optional()),
    forced_down: since('2.11', described(serviceTexts.forcedDown, lenientBoolean.optional())),
  }),
  reply: { service: described(serviceTexts.service, updatedService) },
  run: async ({ engine, params, body, version }) => {
    const { host, binary } = body;
    const legacyAction = at(legacyActions.get(params.id), version);
    if (!legacyAction) throw new Rejection('NOT_FOUND', `Unknown action ${params.id}`);
    const { change, responseFields } = legacyAction(body);
    const serviceState = await engine.services.on(host, binary);
    await engine.services.update(serviceState.service.id, change);
    return { service: { host, binary, ...responseFields } };
  },
});
