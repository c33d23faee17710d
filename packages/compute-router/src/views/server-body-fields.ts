import { between, since, until } from '@apistrata/microversion';
import { described } from '@apistrata/microversion/schema';
import { z } from 'zod';
import * as filter from '../schemas/list-filter.js';
import * as type from '../schemas/types.js';
import { inAllBodies, inBuilds, type ServerField, serverTexts } from './server-field.js';

/** Server fields that requests contain, but responses contain in another place, under another name, or not at all. */
export const requestFields = {
  adminPass: {
    recordField: 'adminPassword',
    ...inBuilds(
      (description) => described(description, z.string().optional()),
      'Administrative password of the guest. Default: a generated password.',
      serverTexts.requestedPassword,
    ),
  },
  imageRef: {
    recordField: 'imageId',
    create: described(
      'UUID of the image from which the server boots. Empty to boot from a volume.',
      z.union([z.literal(''), type.uuid]).optional(),
    ),
    rebuild: described('UUID of the image to write to the root disk.', type.uuid),
  },
  preserve_ephemeral: {
    recordField: 'preserveEphemeral',
    rebuild: described(
      'Whether to preserve the content of ephemeral disks, if the driver supports it. Default: false.',
      type.lenientBoolean.optional(),
    ),
  },
  availability_zone: {
    recordField: 'zone',
    create: described(
      "Availability zone in which to create the server. Administrators can also specify a host, in the format `zone:host:node`. Default: the scheduler's default zone.",
      type.name.optional(),
    ),
    filter: {
      pattern: 'availability_zone',
      sorts: 'availability_zone',
      ...filter.forEveryoneSince('2.83', 'Filters servers by availability zone.', filter.patternSchema),
    },
  },
  min_count: {
    recordField: 'minCount',
    create: described(
      'Minimum number of servers to create. If the quotas allow fewer, the request is rejected. Default: 1.',
      type.positiveInteger.optional(),
    ),
  },
  max_count: {
    recordField: 'maxCount',
    create: described(
      'Maximum number of servers to create. If the quotas allow fewer, the request creates as many as they allow. Default: `min_count`.',
      type.positiveInteger.optional(),
    ),
  },
  user_data: {
    recordField: 'userData',
    create: described('User data for the guest, Base64-encoded, at most 65,535 characters.', type.userData.optional()),
    rebuild: since(
      '2.57',
      described('New user data, Base64-encoded, or null to remove user data.', type.userData.nullable().optional()),
    ),
  },
  personality: {
    recordField: 'files',
    ...inBuilds(
      (description) => until('2.56', described(description, type.personality.optional())),
      'Files to inject into the root disk. User data and the config drive replace file injection.',
      'Files to inject into the root disk.',
    ),
  },
  host: {
    recordField: 'host',
    create: since(
      '2.74',
      described(
        'Host on which to create the server, if the scheduler accepts it. Administrators only.',
        type.fqdn.optional(),
      ),
    ),
  },
  hypervisor_hostname: {
    recordField: 'hypervisorHostname',
    create: since(
      '2.74',
      described(
        'Hostname of the hypervisor on which to create the server, if the scheduler accepts it. Administrators only.',
        type.fqdn.optional(),
      ),
    ),
  },
  hostname: {
    recordField: 'hostname',
    ...inAllBodies(
      (description) => [
        between('2.90', '2.93', described(description, type.hostnameLabel.optional())),
        since('2.94', described(description, type.fqdn.optional())),
      ],
      'Hostname of the guest. Since 2.94, it can be a fully qualified domain name (FQDN). By default, it is derived from the name of the server.',
      'New hostname of the guest.',
    ),
    filter: {
      pattern: 'hostname',
      sorts: 'hostname',
      ...filter.forEveryoneSince('2.90', 'Filters servers by hostname.', filter.patternSchema),
    },
  },
} as const satisfies Record<string, ServerField>;
