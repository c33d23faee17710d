import type { Server } from '@apistrata/compute-engine';
import { notBefore, since, until } from '@apistrata/microversion';
import { type ViewShape, view } from '@apistrata/microversion-router';
import { z } from 'zod';
import type { ComputeCall, HostsCall } from '../http/call.js';
import { commonTexts } from '../reference/common-texts.js';
import * as type from '../schemas/reply-types.js';
import { field, nullableText, text } from './fields.js';
import { linksTo } from './links.js';
import { commonFields } from './server-common-fields.js';
import { extendedFields, hostnameFieldSince, userDataField } from './server-extended-fields.js';
import { type ServerField, serverTexts } from './server-field.js';
import { partialServer } from './server-partial.js';
import {
  addressesOf,
  addressesSchema,
  addressesText,
  groupsField,
  plainAddressesOf,
  plainAddressesSchema,
  securityGroups,
  viewPermissionsOf,
} from './server-parts.js';

type Shape = ViewShape<Server, HostsCall>;

/** Returns the response fields of the field definitions that contain one. */
function responseFieldsOf(fields: Readonly<Record<string, ServerField>>): Shape {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, { response }]) => (response ? [[name, response]] : [])),
  );
}

const commonResponseFields = responseFieldsOf(commonFields);
const extendedResponseFields = responseFieldsOf(extendedFields);

/** Lists do not contain server groups, because it would be too expensive to load them for each server. */
const groupsShape: Shape = { server_groups: groupsField };

const fullAddresses = field(addressesText, addressesSchema, addressesOf);

/** Server fields in lists and in the response to `showServer`. */
const shownFields: Shape = {
  ...commonResponseFields,
  ...extendedResponseFields,
  addresses: fullAddresses,
  'OS-EXT-SRV-ATTR:hostname': hostnameFieldSince('2.3'),
  'OS-EXT-SRV-ATTR:user_data': userDataField,
};

/**
 * Returns the cache key for the JSON of a server, which depends on the caller's permissions, the base URL, and the
 * state of the hosts.
 */
function cacheKeyOf(call: HostsCall): string {
  const { attributes, hostStatus, unknownHostStatus, extraSpecs } = viewPermissionsOf(call);
  return `${call.selfBase} ${call.loaded.epoch} ${attributes} ${hostStatus} ${unknownHostStatus} ${extraSpecs} ${call.context.isAdmin}`;
}

export const serverSummary = view<Server, HostsCall>(
  { id: commonFields.id.response, name: commonFields.name.response, links: linksTo('servers') },
  { cacheKey: (call) => call.selfBase, alternative: partialServer.summary },
);

export const serverDetail = view<Server, HostsCall>(shownFields, {
  cacheKey: cacheKeyOf,
  alternative: partialServer.detail,
});

export const shownServer = view<Server, HostsCall>(
  { ...shownFields, ...groupsShape },
  { cacheKey: cacheKeyOf, alternative: partialServer.shown },
);

function fieldsSince275(shape: Shape): Shape {
  return Object.fromEntries(
    Object.entries(shape).flatMap(([name, windowed]) => {
      const windowedField = notBefore('2.75', windowed);
      return windowedField ? [[name, windowedField]] : [];
    }),
  );
}

const updatedFields: Shape = {
  ...commonResponseFields,
  ...groupsShape,
  ...fieldsSince275({ ...extendedResponseFields, 'OS-EXT-SRV-ATTR:user_data': userDataField }),
  addresses: [
    until('2.74', field(addressesText, plainAddressesSchema, plainAddressesOf)),
    since('2.75', fullAddresses),
  ],
  'OS-EXT-SRV-ATTR:hostname': hostnameFieldSince('2.75'),
};

/** The server in the response to an update. Since 2.75, it has the same fields as in the response to `showServer`. */
export const updatedServer = view<Server, HostsCall>(updatedFields);

/** A rebuilt server, with the password that only the response to a rebuild contains. */
export interface RebuiltServer extends Server {
  readonly adminPassword: string | null;
}

const { 'OS-EXT-SRV-ATTR:user_data': _, ...rebuiltBase } = updatedFields;

/** The server in the response to a rebuild. */
export const rebuiltServer = view<RebuiltServer, HostsCall>({
  ...(rebuiltBase as unknown as ViewShape<RebuiltServer, HostsCall>),
  adminPass: field(serverTexts.createdPassword, z.string().optional(), (s) => s.adminPassword ?? undefined),
  key_name: since('2.54', extendedFields.key_name.response),
  user_data: since(
    '2.57',
    nullableText('User data of the server, Base64-encoded, or null.', (s) => s.userData),
  ),
});

/** A new server and its password, for the response to a create request. */
export interface CreatedServer {
  readonly server: Server;
  readonly adminPassword: string | undefined;
}

export const createdServer = view<CreatedServer, ComputeCall>({
  id: text(commonFields.id.response.description, ({ server }) => server.id),
  links: field(commonTexts.links, type.links, ({ server }, call) => [...call.links(`/servers/${server.id}`)] as never),
  'OS-DCF:diskConfig': field(serverTexts.diskConfig, z.enum(['AUTO', 'MANUAL']), ({ server }) => server.diskConfig),
  security_groups: field(extendedFields.security_groups.response.description, securityGroups, ({ server }) =>
    server.securityGroups.map((name) => ({ name })),
  ),
  adminPass: field(serverTexts.createdPassword, z.string().optional(), ({ adminPassword }) => adminPassword),
});
