import type { Server } from '@apistrata/compute-engine';
import { zoneOf } from '@apistrata/compute-engine/api';
import { since } from '@apistrata/microversion';
import { field, nested, type ViewField, type ViewShape, view } from '@apistrata/microversion/router';
import { z } from 'zod';
import type { HostsCall } from '../http/call.js';
import * as type from '../schemas/reply-types.js';
import { linksTo } from './links.js';
import { embeddedFlavor, groupsField, imageReferenceField, securityGroups, securityGroupsOf } from './server-parts.js';

/** Returns whether the state of a server is unknown because its host or the host's cell does not respond. */
export function isUnreachable(server: Server, call: HostsCall): boolean {
  return server.host !== null && call.loaded.unreachable.has(server.host);
}

type Shape = ViewShape<Server, HostsCall>;

const text = (get: (server: Server, call: HostsCall) => string): ViewField<Server, HostsCall> => field(z.string(), get);

const summary: Shape = {
  id: text((s) => s.id),
  links: linksTo('servers'),
  status: field(z.literal('UNKNOWN'), () => 'UNKNOWN' as const),
};

const detail: Shape = {
  ...summary,
  created: field(type.serverTime, (s) => type.showServerTime(s.createdAt)),
  tenant_id: text((s) => s.projectId),
};

const listed: Shape = { ...detail, security_groups: field(securityGroups.optional(), securityGroupsOf) };

const shown: Shape = {
  ...detail,
  user_id: text((s) => s.userId),
  flavor: nested(embeddedFlavor, (s) => s.flavor),
  image: imageReferenceField,
  'OS-EXT-AZ:availability_zone': text((s, call) => zoneOf(s, call.loaded) || 'UNKNOWN'),
  'OS-EXT-STS:power_state': field(z.literal(0), () => 0 as const),
  server_groups: groupsField,
};

function insteadOf(shape: Shape) {
  return since('2.69', { when: isUnreachable, view: view<Server, HostsCall>(shape) });
}

/** Fields of unreachable servers, since 2.69. */
export const partialServer = {
  summary: insteadOf(summary),
  detail: insteadOf(listed),
  shown: insteadOf(shown),
} as const;
