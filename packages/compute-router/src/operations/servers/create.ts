import type { LegacyDevice, NewServer, RequestedDevice } from '@apistrata/compute-engine/api';
import { at, since, until } from '@apistrata/microversion';
import { described } from '@apistrata/microversion/schema';
import { prepareResponse } from '@apistrata/microversion-router';
import { z } from 'zod';
import type { ComputeCall } from '../../http/call.js';
import { operation } from '../../operation.js';
import type { RuleName } from '../../policy/index.js';
import { createdServer } from '../../views/server.js';
import { serverTexts } from '../../views/server-field.js';
import { recordFieldsOf } from '../../views/server-request-fields.js';
import { type CreateServerBody, createServerBody } from './create-body.js';
import { serverDocs } from './server-docs.js';

type CreateRequest = CreateServerBody['server'];

function legacyDeviceOf(device: NonNullable<CreateRequest['block_device_mapping']>[number]): LegacyDevice {
  return {
    virtualName: device.virtual_name,
    volumeId: device.volume_id,
    snapshotId: device.snapshot_id,
    size: device.volume_size,
    device: device.device_name,
    deleteOnTermination: device.delete_on_termination,
    noDevice: Boolean(device.no_device),
  };
}

function deviceOf(device: NonNullable<CreateRequest['block_device_mapping_v2']>[number]): RequestedDevice {
  return {
    source: device.source_type,
    destination: device.destination_type,
    sourceId: device.uuid,
    bootIndex: device.boot_index,
    size: device.volume_size,
    volumeType: device.volume_type,
    device: device.device_name,
    deleteOnTermination: device.delete_on_termination,
    noDevice: Boolean(device.no_device),
    guestFormat: device.guest_format,
    deviceType: device.device_type,
    diskBus: device.disk_bus,
    tag: device.tag,
  };
}

/** Since 2.19, requests can contain a description. Until 2.18, the server's name is also its description. */
const hasDescription = [until('2.18', false), since('2.19', true)];
/** Since 2.60, servers can use volumes that are attached to several servers. */
const allowsMultiattach = [until('2.59', false), since('2.60', true)];
const allowsResourceRequests = [until('2.71', false), since('2.72', true)];

function hintsOf(body: CreateServerBody): NewServer['hints'] {
  const requestedHints = body['os:scheduler_hints'] ?? body['OS-SCH-HNT:scheduler_hints'] ?? {};
  return Object.fromEntries(
    Object.entries(requestedHints).filter(([key, value]) => value !== undefined && !key.startsWith('_nova')),
  );
}

function newServerOf(call: ComputeCall, body: CreateServerBody): NewServer {
  const { server: s } = body;
  return {
    ...recordFieldsOf(s),
    description: at(hasDescription, call.version) ? s.description : s.name,
    flavorId: s.flavorRef.slice(s.flavorRef.lastIndexOf('/') + 1),
    tags: s.tags && [...new Set(s.tags)],
    securityGroups: s.security_groups?.flatMap(({ name }) => name ?? []),
    networks:
      typeof s.networks === 'object'
        ? s.networks.map(({ uuid, port, fixed_ip, tag }) => ({
            networkId: uuid,
            portId: port ?? undefined,
            address: fixed_ip,
            tag,
          }))
        : s.networks,
    devices: s.block_device_mapping_v2?.map(deviceOf),
    legacyDevices: s.block_device_mapping?.map(legacyDeviceOf),
    hints: hintsOf(body),
    may: {
      zeroDiskFlavor: call.can('os_compute_api:servers:create:zero_disk_flavor'),
      externalNetwork: call.can('network:attach_external_network'),
      multiattach: at(allowsMultiattach, call.version),
      resourceRequest: at(allowsResourceRequests, call.version),
    },
  };
}

/** Policy rules, and the conditions under which a request must comply with them. */
const conditionalRules: readonly (readonly [RuleName, (server: CreateRequest) => boolean])[] = [
  [
    'os_compute_api:servers:create:attach_volume',
    (s) => (s.block_device_mapping?.length ?? 0) + (s.block_device_mapping_v2?.length ?? 0) > 0,
  ],
  [
    'os_compute_api:servers:create:attach_network',
    ({ networks }) => networks === 'auto' || (typeof networks === 'object' && networks.length > 0),
  ],
  ['os_compute_api:servers:create:trusted_certs', ({ trusted_image_certificates: certs }) => (certs?.length ?? 0) > 0],
  [
    'os_compute_api:servers:create:forced_host',
    ({ availability_zone: zone = '' }) =>
      zone
        .split(':')
        .slice(1)
        .some((part) => part !== ''),
  ],
  [
    'compute:servers:create:requested_destination',
    ({ host, hypervisor_hostname: node }) => host !== undefined || node !== undefined,
  ],
];

export const createServer = operation({
  ...serverDocs,
  name: 'createServer',
  method: 'POST',
  path: '/servers',
  summary: 'Create servers',
  description:
    'Creates one or more servers. The operation is asynchronous: the response is sent before the server is built. Poll the server until its status is `ACTIVE` or `ERROR`. The response contains only the ID, links, disk configuration, security groups and administrative password of the server. If the request creates several servers, the response describes the first one.',
  policy: 'os_compute_api:servers:create',
  status: 202,
  errors: [400, 403, 409],
  when: {
    403: 'The policy does not allow the operation, or a quota is exceeded.',
    409: 'The server cannot use a network, port, volume or server group in the request.',
  },
  body: createServerBody,
  reply: {
    server: described(serverTexts.server, createdServer),
    reservation_id: described(
      'ID shared by all servers that this request creates. Returned instead of the server if `return_reservation_id` is true.',
      z.string().optional(),
    ),
  },
  run: async (call) => {
    const requested = call.body.server;
    for (const [rule, applies] of conditionalRules) if (applies(requested)) call.require(rule);
    const request = newServerOf(call, call.body);
    const { servers, adminPassword, reservationId } = await call.engine.servers.create(call.context, request);
    // This is the only response without the server, so it does not use the response schema.
    if (requested.return_reservation_id)
      return prepareResponse({ raw: JSON.stringify({ reservation_id: reservationId }) });
    const [firstServer] = servers as readonly [(typeof servers)[number], ...typeof servers];
    const shownPassword = call.engine.settings.enableInstancePassword ? adminPassword : undefined;
    return prepareResponse({
      body: { server: { server: firstServer, adminPassword: shownPassword } },
      headers: { Location: call.selfLink(`/servers/${firstServer.id}`).href },
    });
  },
});
