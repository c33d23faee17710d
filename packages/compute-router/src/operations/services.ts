import { Rejection } from '@apistrata/compute-engine';
import type { ServiceChange } from '@apistrata/compute-engine/api';
import { at, since, until } from '@apistrata/microversion';
import { described, object, one, query } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { requireValueAt } from '../defined-at.js';
import type { ComputeCall } from '../http/call.js';
import { operation } from '../operation.js';
import { rejectedSince275 } from '../schemas/extra-parameters.js';
import { lenientBoolean } from '../schemas/types.js';
import { listedService, service, serviceTexts } from '../views/service.js';
import { parseNumericId, parseUuid } from './id-in-path.js';
import { legacyServiceUpdate, serviceDocs, updateServiceDefinition } from './services-legacy.js';

/** Until 2.68, the list omits services on hosts that do not respond. */
const listsPartialItems = since('2.69', true);

const reason = z.string().min(1).max(255);

function parseServiceUuid(id: string): string {
  const uuid = parseUuid(id);
  if (uuid === undefined) throw new Rejection('BAD_REQUEST', `Invalid uuid ${id}`);
  return uuid;
}

/** Returns the UUID of the service with the integer id in the path. */
async function findUuidByNumber({ engine }: ComputeCall, id: string): Promise<string> {
  const number = parseNumericId(id);
  if (number === undefined) throw new Rejection('BAD_REQUEST', `Invalid service id ${id}: it must be an integer`);
  return (await engine.services.bySeq(number)).service.id;
}

/** Returns the UUID of the service with the id in the path: an integer until 2.52, a UUID since 2.53. */
const serviceUuidOf = [
  until('2.52', findUuidByNumber),
  since('2.53', async (_call: ComputeCall, id: string) => parseServiceUuid(id)),
];

interface RequestedChange {
  readonly status?: 'enabled' | 'disabled';
  readonly disabled_reason?: string;
  readonly forced_down?: boolean;
}

/**
 * Converts a request to a change of the service. A new status also replaces the reason: enabling a service, or
 * disabling it without a reason, removes the previous reason.
 */
function changeOf({ status, disabled_reason, forced_down }: RequestedChange): ServiceChange {
  if (status === undefined && forced_down === undefined) {
    throw new Rejection(
      'BAD_REQUEST',
      "No updates were requested. Fields 'status' or 'forced_down' should be specified.",
    );
  }
  if (status === 'enabled' && disabled_reason !== undefined)
    throw new Rejection('BAD_REQUEST', "Specifying 'disabled_reason' when status is 'enabled' is invalid.");
  return {
    ...(status && { disabled: status === 'disabled', disabledReason: disabled_reason ?? null }),
    ...(forced_down !== undefined && { forcedDown: forced_down }),
  };
}

export const serviceOperations = [
  operation({
    ...serviceDocs,
    name: 'listServices',
    method: 'GET',
    path: '/os-services',
    summary: 'List services',
    description:
      'Lists services, optionally only those on one host or with one binary. Since 2.69, services in an unreachable cell are listed with partial data.',
    policy: 'os_compute_api:os-services:list',
    status: 200,
    query: query(
      {
        host: described('Filters services by host name.', one(z.string())),
        binary: described('Filters services by the name of their binary.', one(z.string())),
      },
      { extra: rejectedSince275 },
    ),
    reply: { services: described('The list of services.', [listedService]) },
    run: async ({ engine, query: { host, binary }, version }) => {
      const services = await engine.services.list({ host, binary });
      const includesPartial = at(listsPartialItems, version) ?? false;
      return { services: services.filter(({ reachable }) => reachable || includesPartial) };
    },
  }),
  legacyServiceUpdate,
  operation({
    ...updateServiceDefinition,
    method: 'PUT',
    path: '/os-services/{id}',
    window: since('2.53', true),
    summary: 'Enable a service, disable it, or mark its host as down',
    policy: 'os_compute_api:os-services:update',
    status: 200,
    errors: [400, 404],
    body: object({
      status: described(serviceTexts.status, z.enum(['enabled', 'disabled']).optional()),
      disabled_reason: described(serviceTexts.disabledReason, reason.optional()),
      forced_down: described(serviceTexts.forcedDown, lenientBoolean.optional()),
    }),
    reply: { service: described(serviceTexts.service, service) },
    run: async ({ engine, params, body }) => ({
      service: await engine.services.update(parseServiceUuid(params.id), changeOf(body)),
    }),
  }),
  operation({
    ...serviceDocs,
    name: 'deleteService',
    method: 'DELETE',
    path: '/os-services/{id}',
    summary: 'Delete a service',
    description: 'Deletes the record of a service that was decommissioned. There must not be servers on its host.',
    policy: 'os_compute_api:os-services:delete',
    status: 204,
    errors: [400, 404, 409],
    when: { 409: 'The host of the service has servers, or migrations in progress.' },
    run: async (call) =>
      call.engine.services.delete(await requireValueAt(serviceUuidOf, call.version)(call, call.params.id)),
  }),
];
