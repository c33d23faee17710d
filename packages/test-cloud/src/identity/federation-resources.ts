import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { derived, fixed, required, settable } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import { badRequest, conflict, notFound } from '../service/service-error.js';
import { withoutFields } from '../service/view.js';
import { flag, nullableText, recordId, rejectDuplicateId, url, withPutRoute } from './identity-types.js';
import { newId } from './new-id.js';

const id = fixed(z.string().min(1).max(64));
const remoteId = z.string().max(64);
const enabled = settable(flag, false);
const description = settable(nullableText, null);

/** Properties that all federation resources share. Clients choose their IDs. */
const commonSpec: Pick<ResourceSpec, 'verbs' | 'unknownFields'> = {
  verbs: ['list', 'show', 'change', 'remove'],
  unknownFields: () => 'reject',
};

const mappingRule = z.strictObject({
  local: z.array(z.record(z.string(), z.unknown())),
  remote: z.array(z.looseObject({ type: z.string() })).min(1),
});

/** Mappings from an external identity provider's attributes to local users, groups and projects. */
const mappings: ResourceSpec = {
  ...commonSpec,
  ...withPutRoute('mapping'),
  path: 'OS-FEDERATION/mappings',
  one: 'mapping',
  many: 'mappings',
  unknownFields: () => 'ignore',
  authorizesFirst: true,
  fields: () => ({
    id,
    rules: required(settable(z.array(mappingRule).min(1))),
    schema_version: settable(z.enum(['1.0', '2.0', '3.0']), '1.0'),
  }),
  creating(call, doc) {
    rejectDuplicateId(call, 'mappings', 'mapping', doc.id);
    return undefined;
  },
  changing(_call, _before, { rules }) {
    if (rules === undefined) throw badRequest("'rules' is a required property\n");
    return undefined;
  },
};

const domainsOf = ({ cloud }: Call) => cloud.directory.state.domains;
const providersOf = ({ cloud }: Call) => cloud.documents.table<Doc>('identity/identity_providers');
const protocolsOf = ({ cloud }: Call) => cloud.documents.table<Doc>('identity/protocols');

/** Rejects remote IDs that another identity provider already uses. */
function checkRemoteIds(call: Call, remoteIds: unknown, except?: unknown): void {
  for (const remote of (remoteIds ?? []) as readonly string[])
    for (const { id, remote_ids } of providersOf(call).values())
      if (id !== except && (remote_ids as readonly string[]).includes(remote))
        throw conflict(`Conflict occurred attempting to store identity_provider - Duplicate remote ID: ${remote}.`);
}

/** External identity providers. Each provider has a domain, which is created if the request names none. */
const identityProviders: ResourceSpec = {
  ...commonSpec,
  ...withPutRoute('identity_provider', {}),
  path: 'OS-FEDERATION/identity_providers',
  one: 'identity_provider',
  many: 'identity_providers',
  filters: ['id', 'enabled'],
  fields: () => ({
    id,
    domain_id: fixed(recordId.nullable(), null),
    enabled,
    description,
    authorization_ttl: settable(z.number().int().min(0).nullable(), null),
    remote_ids: settable(
      z
        .array(remoteId)
        .refine((ids) => new Set(ids).size === ids.length, 'has non-unique elements')
        .nullable()
        .transform((ids) => ids ?? []),
      () => [],
    ),
  }),
  creating(call, { id, domain_id, remote_ids }) {
    rejectDuplicateId(call, 'identity_providers', 'identity_provider', id);
    checkRemoteIds(call, remote_ids);
    const domains = domainsOf(call);
    if (domain_id) {
      if (!domains.has(String(domain_id))) throw notFound(`Could not find domain: ${domain_id}.`);
      return undefined;
    }
    const newDomainId = newId();
    const domainDescription = `Auto generated federated domain for Identity Provider: ${id}`;
    domains.set(newDomainId, {
      id: newDomainId,
      name: newDomainId,
      description: domainDescription,
      enabled: true,
      tags: [],
      options: {},
    });
    return { domain_id: newDomainId };
  },
  changing(call, { id }, { remote_ids }) {
    checkRemoteIds(call, remote_ids, id);
    return undefined;
  },
  removing(call, { id }) {
    for (const [key, { idp_id }] of protocolsOf(call)) if (idp_id === id) protocolsOf(call).delete(key);
  },
  shows: (call, { id }) => ({
    links: { protocols: `${call.base}/v3/OS-FEDERATION/identity_providers/${id}/protocols` },
  }),
};

const protocolKey = (call: Call, protocol: unknown) => `${call.param('idp_id')}/${protocol}`;

function checkMapping({ cloud }: Call, mapping: unknown): void {
  if (!cloud.documents.table('identity/mappings').has(String(mapping)))
    throw badRequest(`Invalid mapping id: ${mapping}`);
}

const protocolView = withoutFields('idp_id', 'remote_id_attribute');

/** The protocols of identity providers. A protocol's ID is unique only within its provider. */
const protocols: ResourceSpec = {
  ...commonSpec,
  ...withPutRoute('protocol'),
  path: 'OS-FEDERATION/identity_providers/:idp_id/protocols',
  one: 'protocol',
  many: 'protocols',
  storage: {
    list: (call) => [...protocolsOf(call).values()].filter(({ idp_id }) => idp_id === call.param('idp_id')),
    get: (call, id) => protocolsOf(call).get(protocolKey(call, id)),
    create(call, fields) {
      const doc = { ...fields, id: String(fields.id), idp_id: call.param('idp_id') };
      protocolsOf(call).set(protocolKey(call, doc.id), doc);
      return doc;
    },
    update(call, before, change) {
      const doc = { ...before, ...change };
      protocolsOf(call).set(protocolKey(call, doc.id), doc);
      return doc;
    },
    remove: (call, { id }) => protocolsOf(call).delete(protocolKey(call, id)),
  },
  fields: () => ({
    id,
    idp_id: derived(),
    mapping_id: required(settable(z.string().min(1).max(64))),
    remote_id_attribute: settable(remoteId.nullable(), null),
  }),
  views: { show: protocolView, create: protocolView, change: protocolView },
  creating(call, { id, mapping_id }) {
    checkMapping(call, mapping_id);
    const provider = call.param('idp_id');
    if (!providersOf(call).has(provider)) throw notFound(`Could not find Identity Provider: ${provider}.`);
    if (protocolsOf(call).has(protocolKey(call, id)))
      throw conflict('Conflict occurred attempting to store federation_protocol - Duplicate entry.');
    return undefined;
  },
  changing(call, _before, { mapping_id, remote_id_attribute }) {
    if (mapping_id === undefined) throw badRequest("'mapping_id' is a required property");
    if (remote_id_attribute === null) throw badRequest("None is not of type 'string'");
    checkMapping(call, mapping_id);
    return undefined;
  },
  shows: (call) => ({ links: { identity_provider: `${call.base}/v3/${call.param('idp_id')}` } }),
};

/** Service providers: other clouds that trust this cloud's identity service. */
const serviceProviders: ResourceSpec = {
  ...commonSpec,
  ...withPutRoute('service_provider'),
  path: 'OS-FEDERATION/service_providers',
  one: 'service_provider',
  many: 'service_providers',
  filters: ['id', 'enabled'],
  fields: () => ({
    id,
    auth_url: required(settable(url)),
    sp_url: required(settable(url)),
    description,
    enabled,
    relay_state_prefix: settable(nullableText, 'ss:mem:'),
  }),
  creating(call, doc) {
    rejectDuplicateId(call, 'service_providers', 'service_provider', doc.id);
    return undefined;
  },
};

/** The federation resources. They are stored and returned, but users cannot log in with them. */
export const federationResources: readonly ResourceSpec[] = [mappings, identityProviders, protocols, serviceProviders];
