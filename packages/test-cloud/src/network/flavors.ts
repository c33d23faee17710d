import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { derived, fixed, required, settable } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import { created, del, noContent, post } from '../service/route.js';
import { anything, flag, longText, text } from '../service/wire-types.js';
import { missingResource, networkError } from './network-errors.js';
import { hiddenStamps, nameFields, resourceNames } from './standard-fields.js';
import { uuid } from './value-types.js';

const writeVerbs = ['create', 'change', 'remove'] as const;
const descriptionField = settable(longText.nullable(), '');

const table = (call: Call, many: string) => call.cloud.documents.table<Doc>(`network/${many}`);
const profilesOf = ({ service_profiles }: Doc) => service_profiles as readonly string[];

/** Throws `ServiceProfileInUse` if a flavor uses the service profile. */
function rejectUsedProfile(call: Call, { id }: Doc): undefined {
  if ([...table(call, 'flavors').values()].some((flavor) => profilesOf(flavor).includes(id)))
    throw networkError('ServiceProfileInUse', `Service Profile ${id} is used by some service instance.`);
}

/** The types of Neutron's service plugins that serve the advertised extensions. */
const SERVICE_PLUGINS = [
  ...[
    'CONNTRACKHELPER',
    'CORE',
    'FLAVORS',
    'L3_ROUTER_NAT',
    'METERING',
    'NETWORK_SEGMENT_RANGE',
    'PORTFORWARDING',
    'QOS',
  ],
  ...['TAG', 'auto-allocated-topology', 'network-ip-availability', 'revision_plugin', 'segments', 'timestamp', 'trunk'],
];

/** Network flavors, whose service profiles select a driver. */
export const flavors: ResourceSpec = {
  ...resourceNames('flavor'),
  admin: writeVerbs,
  fields: () => ({
    id: derived(),
    ...hiddenStamps,
    ...nameFields,
    description: descriptionField,
    service_type: required(fixed(text)),
    enabled: settable(flag.nullable(), true),
    service_profiles: settable(z.array(uuid), () => [], { filter: false }),
  }),
  creating(_call, { service_type }) {
    if (!SERVICE_PLUGINS.includes(String(service_type)))
      throw networkError('InvalidServiceType', `Invalid service type: ${service_type}.`);
    // As in Neutron, only a separate operation adds service profiles to a flavor.
    return { service_profiles: [] };
  },
  routes(resource) {
    const profilesPath = '/v2.0/flavors/:flavor/service_profiles';
    return [
      post(profilesPath, async (call) => {
        const requestedId = call.body(z.object({ service_profile: z.object({ id: uuid }) })).service_profile.id;
        const flavor = await resource.find(call, call.param('flavor'), 'change');
        if (!table(call, 'service_profiles').has(requestedId)) throw missingResource('Service Profile', requestedId);
        if (profilesOf(flavor).includes(requestedId))
          throw networkError(
            'FlavorServiceProfileBindingExists',
            `Service Profile ${requestedId} is already associated with flavor ${flavor.id}.`,
          );
        await resource.apply(call, flavor, { service_profiles: [...profilesOf(flavor), requestedId] });
        return created({ service_profile: { id: flavor.id } });
      }),
      del(`${profilesPath}/:profile`, async (call) => {
        const flavor = await resource.find(call, call.param('flavor'), 'change');
        const profile = call.param('profile');
        if (!profilesOf(flavor).includes(profile))
          throw networkError(
            'FlavorServiceProfileBindingNotFound',
            `Service Profile ${profile} is not associated with flavor ${flavor.id}.`,
          );
        await resource.apply(call, flavor, { service_profiles: profilesOf(flavor).filter((id) => id !== profile) });
        return noContent();
      }),
    ];
  },
};

export const serviceProfiles: ResourceSpec = {
  ...resourceNames('service_profile', 'service_profiles'),
  admin: writeVerbs,
  // As in Neutron, only administrators see service profiles.
  isVisible: () => false,
  fields: () => ({
    id: derived(),
    ...hiddenStamps,
    description: descriptionField,
    driver: settable(longText, ''),
    enabled: settable(flag.nullable(), true),
    metainfo: settable(anything, '', { filter: 'sort' }),
  }),
  creating(_call, { driver, metainfo }) {
    if (!driver && !metainfo)
      throw networkError('ServiceProfileEmpty', 'Service Profile needs either a driver or metainfo.');
  },
  changing: async (call, before) => rejectUsedProfile(call, before),
  removing: rejectUsedProfile,
};
