import type { Server } from '@apistrata/compute-engine';
import { zoneOf } from '@apistrata/compute-engine/api';
import { since } from '@apistrata/microversion';
import { type ViewShape, view } from '@apistrata/microversion-router';
import { z } from 'zod';
import type { HostsCall } from '../http/call.js';
import { field, text } from './fields.js';
import { commonFields } from './server-common-fields.js';
import { extendedFields } from './server-extended-fields.js';
import { groupsField, imageReferenceField } from './server-parts.js';

/** Returns whether the state of a server is unknown because its host or the host's cell does not respond. */
export function isUnreachable(server: Server, call: HostsCall): boolean {
  return server.host !== null && call.loaded.unreachable.has(server.host);
}

type Shape = ViewShape<Server, HostsCall>;

const summaryShape: Shape = {
  id: commonFields.id.response,
  links: commonFields.links.response,
  status: field(commonFields.status.response.description, z.literal('UNKNOWN'), () => 'UNKNOWN' as const),
};

const detailShape: Shape = {
  ...summaryShape,
  created: commonFields.created.response,
  tenant_id: commonFields.tenant_id.response,
};

const listedShape: Shape = { ...detailShape, security_groups: extendedFields.security_groups.response };

const shownShape: Shape = {
  ...detailShape,
  user_id: commonFields.user_id.response,
  flavor: commonFields.flavor.response,
  image: imageReferenceField,
  'OS-EXT-AZ:availability_zone': text(
    extendedFields['OS-EXT-AZ:availability_zone'].response.description,
    (s, call) => zoneOf(s, call.loaded) || 'UNKNOWN',
  ),
  'OS-EXT-STS:power_state': field(
    extendedFields['OS-EXT-STS:power_state'].response.description,
    z.literal(0),
    () => 0 as const,
  ),
  server_groups: groupsField,
};

function viewWhenUnreachable(shape: Shape) {
  return since('2.69', { when: isUnreachable, view: view<Server, HostsCall>(shape) });
}

/** Representations of unreachable servers, which contain only the known fields. They exist since 2.69. */
export const partialServer = {
  summary: viewWhenUnreachable(summaryShape),
  detail: viewWhenUnreachable(listedShape),
  shown: viewWhenUnreachable(shownShape),
} as const;
