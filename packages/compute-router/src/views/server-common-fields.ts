import { statusOf } from '@apistrata/compute-engine/api';
import { since } from '@apistrata/microversion';
import { described } from '@apistrata/microversion/schema';
import { nested } from '@apistrata/microversion-router';
import { z } from 'zod';
import { commonTexts } from '../reference/common-texts.js';
import * as filter from '../schemas/list-filter.js';
import * as reply from '../schemas/reply-types.js';
import * as type from '../schemas/types.js';
import { field, flag, nullableText, text } from './fields.js';
import { linksTo } from './links.js';
import { inAllBodies, inBuilds, type ServerField, serverTexts } from './server-field.js';
import { embeddedFlavor, faultOf, faultSchema, hintsOf, hostIdOf, imageField } from './server-parts.js';

const NAME_DESCRIPTION = 'Name of the server. If a request creates several servers, a number is appended to each name.';

const STATUSES_WITH_PROGRESS = new Set(['ACTIVE', 'BUILD', 'REBUILD', 'RESIZE', 'VERIFY_RESIZE', 'MIGRATING']);

/** The server fields that every full representation contains, in this order. */
export const commonFields = {
  id: { response: text('UUID of the server.', (s) => s.id) },
  name: {
    recordField: 'name',
    create: described(NAME_DESCRIPTION, type.name),
    update: described(NAME_DESCRIPTION, type.name.optional()),
    rebuild: described('New name of the server. Default: unchanged.', type.name.optional()),
    response: text('Name of the server, which is not necessarily unique.', (s) => s.name),
  },
  status: {
    response: text(
      'Status of the server, derived from `vm_state` and `task_state`, such as `BUILD`, `ACTIVE`, `SHUTOFF` or `ERROR`. Since 2.69, `UNKNOWN` if its cell is unreachable.',
      (s) => statusOf(s),
    ),
  },
  tenant_id: { response: text(commonTexts.tenantId, (s) => s.projectId) },
  user_id: { response: text('ID of the user who created the server.', (s) => s.userId) },
  metadata: {
    recordField: 'metadata',
    ...inBuilds(
      (description) => described(description, type.metadata.optional()),
      'Metadata of the server, as key-value pairs. Keys and values have at most 255 characters.',
      'New metadata, which replaces all existing items. Default: unchanged.',
    ),
    response: field(
      'Metadata of the server, as key-value pairs. The guest can read it.',
      reply.textMap,
      (s) => s.metadata,
    ),
  },
  hostId: {
    response: text(
      'Opaque identifier of the host, which is different for each project. Two servers in a project have the same value if they are on the same host. Empty if the server does not have a host.',
      (s) => hostIdOf(s.projectId, s.host),
    ),
  },
  image: { response: imageField },
  flavor: {
    response: described(
      'Flavor of the server. Until 2.46, a link to the flavor; since 2.47, the values of the flavor at the time of the create or resize request.',
      nested(embeddedFlavor, (s) => s.flavor),
    ),
  },
  created: {
    response: field('Creation time, in UTC with second precision.', reply.serverTime, (s) =>
      reply.formatServerTime(s.createdAt),
    ),
  },
  updated: {
    response: field('Time of the last change, in UTC with second precision.', reply.serverTime, (s) =>
      reply.formatServerTime(s.updatedAt ?? s.createdAt),
    ),
  },
  accessIPv4: {
    recordField: 'accessIpV4',
    ...inAllBodies(
      (description) => described(description, type.ipv4.optional()),
      'IPv4 address that should be used to access the server.',
      'New IPv4 address that should be used to access the server.',
    ),
    response: text('IPv4 address that should be used to access the server, or an empty string.', (s) => s.accessIpV4),
  },
  accessIPv6: {
    recordField: 'accessIpV6',
    ...inAllBodies(
      (description) => described(description, type.ipv6.optional()),
      'IPv6 address that should be used to access the server.',
      'New IPv6 address that should be used to access the server.',
    ),
    response: text('IPv6 address that should be used to access the server, or an empty string.', (s) => s.accessIpV6),
  },
  links: { response: linksTo('servers') },
  'OS-DCF:diskConfig': {
    recordField: 'diskConfig',
    ...inAllBodies((description) => described(description, type.diskConfig.optional()), serverTexts.diskConfig),
    response: text(serverTexts.diskConfig, (s) => s.diskConfig),
  },
  fault: {
    response: field(
      'The last error that occurred. Present only if the status is `ERROR` or `DELETED`.',
      faultSchema.optional(),
      (s, call) => faultOf(s, statusOf(s), call.context.isAdmin),
    ),
  },
  progress: {
    response: field(
      'Progress of the current task, in percent. Present only in the statuses `ACTIVE`, `BUILD`, `REBUILD`, `RESIZE`, `VERIFY_RESIZE` and `MIGRATING`.',
      z.int().optional(),
      (s) => (STATUSES_WITH_PROGRESS.has(statusOf(s)) ? s.progress : undefined),
    ),
  },
  locked: {
    response: since(
      '2.9',
      flag('Whether the server is locked.', (s) => s.lock !== null),
    ),
  },
  description: {
    recordField: 'description',
    ...inAllBodies(
      (description) => since('2.19', described(description, type.description().optional())),
      'Description of the server, at most 255 characters, or null.',
      'New description, or null to remove the description.',
    ),
    filter: {
      pattern: 'description',
      ...filter.adminOnly('Filters servers by description. The value is a regular expression.', filter.patternSchema),
    },
    response: since(
      '2.19',
      nullableText('Description of the server, or null.', (s) => s.description),
    ),
  },
  tags: {
    recordField: 'tags',
    create: since(
      '2.52',
      described(
        'Tags of the server: at most 50, each with at most 60 characters.',
        z.array(type.tag).max(50).optional(),
      ),
    ),
    response: since(
      '2.26',
      field('Tags of the server.', z.array(z.string()).max(50), (s) => [...s.tags]),
    ),
  },
  trusted_image_certificates: {
    recordField: 'trustedCerts',
    ...inBuilds(
      (description) => since('2.63', described(description, type.trustedCerts.optional())),
      'IDs of at most 50 trusted certificates, which are used to validate the signature of the image.',
      'IDs of the trusted certificates that are used to validate the signature of the image, or null for none.',
    ),
    response: since(
      '2.63',
      field(
        'IDs of the trusted certificates that were used to validate the signature of the image, or null.',
        z.array(z.string()).nullable(),
        (s) => s.trustedCerts && [...s.trustedCerts],
      ),
    ),
  },
  locked_reason: {
    response: since(
      '2.73',
      nullableText('Reason why the server is locked, or null.', (s) => s.lock?.reason ?? null),
    ),
  },
  pinned_availability_zone: {
    recordField: 'pinnedZone',
    update: since(
      '2.104',
      described(
        'Availability zone to which the server is pinned, or null to remove the pin.',
        type.name.nullable().optional(),
      ),
    ),
    response: since(
      '2.96',
      nullableText('Availability zone to which the server is pinned, or null.', (s) => s.pinnedZone),
    ),
  },
  scheduler_hints: {
    response: since(
      '2.100',
      field(
        'Scheduler hints in the create request. Each value is a list of strings.',
        z.record(z.string(), z.array(z.string())),
        hintsOf,
      ),
    ),
  },
} as const satisfies Record<string, ServerField>;
