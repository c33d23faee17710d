import type { NewServer } from '@apistrata/compute-engine';
import { at, between, since, until } from '@apistrata/microversion';
import { answer } from '@apistrata/microversion/router';
import { derive, type Infer, object } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { operation } from '../../operation.js';
import * as type from '../../schemas/types.js';
import { serverCreated } from '../../views/server.js';

const network = object({
  uuid: [until('2.36', z.string().optional()), since('2.37', type.uuid.optional())],
  port: type.uuid.nullable().optional(),
  fixed_ip: type.ip.optional(),
  tag: [between('2.32', '2.36', type.tag.optional()), since('2.42', type.tag.optional())],
});

const server = object({
  name: type.name,
  imageRef: z.union([z.literal(''), type.uuid]).optional(),
  flavorRef: z.union([z.string().min(1), z.int().transform(String)]),
  adminPass: z.string().optional(),
  metadata: type.metadata.optional(),
  networks: [
    until(
      '2.36',
      derive(network, (item) => item.array().optional()),
    ),
    since(
      '2.37',
      derive(network, (item) => z.union([item.array(), z.enum(['none', 'auto'])])),
    ),
  ],
  'OS-DCF:diskConfig': type.diskConfig.optional(),
  accessIPv4: type.ipv4.optional(),
  accessIPv6: type.ipv6.optional(),
  availability_zone: type.name.optional(),
  config_drive: type.boolish.optional(),
  key_name: type.name.optional(),
  min_count: type.posint.optional(),
  max_count: type.posint.optional(),
  return_reservation_id: type.boolish.optional(),
  security_groups: z.array(z.strictObject({ name: type.name.optional() })).optional(),
  user_data: type.userData.optional(),
  personality: until('2.56', type.personality.optional()),
  description: since('2.19', type.description().optional()),
  tags: since('2.52', z.array(type.tag).max(50).optional()),
  trusted_image_certificates: since('2.63', type.trustedCerts.optional()),
  hostname: [between('2.90', '2.93', type.hostnameLabel.optional()), since('2.94', type.fqdn.optional())],
});

const hints = z.looseObject({}).optional();

const body = object({ server, 'os:scheduler_hints': hints, 'OS-SCH-HNT:scheduler_hints': hints });

function wantedOf(asked: Infer<typeof body>): NewServer {
  const { server: s } = asked;
  const hintsGiven = asked['os:scheduler_hints'] ?? asked['OS-SCH-HNT:scheduler_hints'] ?? {};
  return {
    name: s.name.trim(),
    description: s.description,
    flavorId: s.flavorRef.split('/').at(-1)!,
    imageId: s.imageRef,
    keyName: s.key_name,
    metadata: s.metadata,
    tags: s.tags && [...new Set(s.tags)],
    userData: s.user_data,
    configDrive: s.config_drive,
    diskConfig: s['OS-DCF:diskConfig'],
    accessIpV4: s.accessIPv4,
    accessIpV6: s.accessIPv6,
    securityGroups: s.security_groups?.map(({ name }) => name ?? 'default'),
    networks:
      typeof s.networks === 'object'
        ? s.networks.map(({ uuid, port, fixed_ip, tag }) => ({
            networkId: uuid,
            portId: port ?? undefined,
            address: fixed_ip,
            tag,
          }))
        : s.networks,
    zone: s.availability_zone,
    hints: Object.fromEntries(Object.entries(hintsGiven).filter(([key]) => !key.startsWith('_nova'))),
    minCount: s.min_count,
    maxCount: s.max_count,
    hostname: s.hostname,
    adminPassword: s.adminPass,
    files: s.personality,
    trustedCerts: s.trusted_image_certificates,
  };
}

/** Below this, the description is the name. */
const described = since('2.19', true);

export const createServer = operation({
  method: 'POST',
  path: '/servers',
  summary: 'Create servers',
  policy: 'os_compute_api:servers:create',
  status: 202,
  errors: [400, 403, 409],
  body,
  reply: { server: serverCreated, reservation_id: z.string().optional() },
  run: async (call) => {
    const wanted = wantedOf(call.body);
    const complete = at(described, call.version) ? wanted : { ...wanted, description: wanted.name };
    const { servers, adminPassword, reservationId } = await call.engine.servers.create(call.context, complete);
    if (call.body.server.return_reservation_id) return answer({ body: { reservation_id: reservationId } });
    const [first] = servers;
    const shownPassword = call.engine.settings.enableInstancePassword ? adminPassword : undefined;
    return answer({
      body: { server: { server: first!, adminPassword: shownPassword } },
      headers: { Location: call.self(`/servers/${first!.id}`).href },
    });
  },
});
