// Requests that succeed for administrators and owners, for the actions in the facts about policies.
import { at, type PolicyCloud, unique } from './policy-cloud.js';

type Ids = Readonly<Record<string, string>>;
type MakeId = (cloud: PolicyCloud) => Promise<string> | string;

const rules = [{ local: [{ user: { name: '{0}' } }], remote: [{ type: 'REMOTE_USER' }] }];
const url = 'https://sp.example.org/v3';
const config = { config: { ldap: { url: 'ldap://localhost' } } };
const MISSING = 'missing';
/** The tag of projects in requests. */
const TAG = 'blue';

const makeRole = ({ make }: PolicyCloud) => make('roles', 'role', { name: unique('role') });
const makeDomainRole = ({ make, domain }: PolicyCloud) =>
  make('roles', 'role', { name: unique('role'), domain_id: domain });
const makeService = ({ make }: PolicyCloud) => make('services', 'service', { type: unique('type') });

/** Creates a record with an ID that the client chooses. */
async function put({ send }: PolicyCloud, path: string, one: string, fields: object): Promise<string> {
  const id = unique(one);
  await send('PUT', `/v3/${path}/${id}`, { [one]: fields });
  return id;
}

async function makeRegisteredLimit(cloud: PolicyCloud) {
  const limit = { service_id: await makeService(cloud), resource_name: 'cores' };
  const { registered_limits } = await cloud.send('POST', '/v3/registered_limits', {
    registered_limits: [{ ...limit, default_limit: 10 }],
  });
  return { limit, id: registered_limits[0].id as string };
}

const projectLimit = async (cloud: PolicyCloud) => ({
  limits: [{ ...(await makeRegisteredLimit(cloud)).limit, project_id: cloud.project, resource_limit: 5 }],
});

async function makeApplicationCredential({ callers, owner }: PolicyCloud, fields: object = {}): Promise<string> {
  const application_credential = { name: unique('credential'), ...fields };
  const path = at(`/v3/users/${owner}/application_credentials`);
  return (await callers.owner!('POST', path, { application_credential })).body.application_credential.id;
}

async function makeAccessRule(cloud: PolicyCloud): Promise<string> {
  const access_rules = [{ path: `/${unique('path')}`, method: 'GET', service: 'identity' }];
  const id = await makeApplicationCredential(cloud, { access_rules });
  const path = `/v3/users/${cloud.owner}`;
  const { application_credential } = await cloud.send('GET', `${path}/application_credentials/${id}`);
  await cloud.send('DELETE', `${path}/application_credentials/${id}`);
  return application_credential.access_rules[0].id;
}

const trustOf = ({ owner, trustee, project }: PolicyCloud) => ({
  ...{ trustor_user_id: owner, trustee_user_id: trustee, project_id: project },
  ...{ impersonation: false, roles: [{ name: 'reader' }] },
});

const makeTrust = async (cloud: PolicyCloud): Promise<string> =>
  (await cloud.callers.owner!('POST', at('/v3/OS-TRUST/trusts'), { trust: trustOf(cloud) })).body.trust.id;

const makeAccessKey = async ({ send, owner, project }: PolicyCloud): Promise<string> =>
  (await send('POST', `/v3/users/${owner}/credentials/OS-EC2`, { tenant_id: project })).credential.access;

/** Returns the IDs of existing records, by the name of the path parameter. Creates a record unless it can be shared. */
export const MAKE_IDS: Readonly<Record<string, MakeId>> = {
  domain_id: ({ domain }) => domain,
  project_id: ({ project }) => project,
  user_id: ({ owner }) => owner,
  trustor_user_id: ({ owner }) => owner,
  trustee_user_id: ({ trustee }) => trustee,
  role_id: ({ roleIds }) => roleIds.reader!,
  group_id: ({ make, domain }) => make('groups', 'group', { name: unique('group'), domain_id: domain }),
  prior_role_id: makeRole,
  implied_role_id: makeRole,
  service_id: makeService,
  endpoint_id: async (cloud) =>
    cloud.make('endpoints', 'endpoint', { interface: 'public', service_id: await makeService(cloud), url }),
  region_id: ({ make }) => make('regions', 'region', {}),
  policy_id: ({ make }) => make('policies', 'policy', { blob: '{}', type: 'application/json' }),
  consumer_id: ({ make }) => make('OS-OAUTH1/consumers', 'consumer', {}),
  endpoint_group_id: ({ make }) =>
    make('OS-EP-FILTER/endpoint_groups', 'endpoint_group', { name: unique('group'), filters: { interface: 'public' } }),
  idp_id: (cloud) => put(cloud, 'OS-FEDERATION/identity_providers', 'identity_provider', {}),
  mapping_id: (cloud) => put(cloud, 'OS-FEDERATION/mappings', 'mapping', { rules }),
  service_provider_id: (cloud) =>
    put(cloud, 'OS-FEDERATION/service_providers', 'service_provider', { auth_url: url, sp_url: url }),
  limit_id: async (cloud) => (await cloud.send('POST', '/v3/limits', await projectLimit(cloud))).limits[0].id,
  registered_limit_id: async (cloud) => (await makeRegisteredLimit(cloud)).id,
  credential_id: ({ make, owner }) => make('credentials', 'credential', { user_id: owner, type: 'totp', blob: 'x' }),
  application_credential_id: (cloud) => makeApplicationCredential(cloud),
  access_rule_id: makeAccessRule,
  trust_id: makeTrust,
  value: () => TAG,
};

/** The IDs of the actions whose records differ from those of other actions with the same path parameter. */
export const IDS_OF_ACTIONS: Readonly<Record<string, Readonly<Record<string, MakeId>>>> = {
  ...{ ec2_get_credential: { credential_id: makeAccessKey }, ec2_delete_credential: { credential_id: makeAccessKey } },
  ...{ update_role: { role_id: makeRole }, delete_role: { role_id: makeRole } },
  ...{ get_domain_role: { role_id: makeDomainRole }, update_domain_role: { role_id: makeDomainRole } },
  delete_domain_role: { role_id: makeDomainRole },
  delete_domain: { domain_id: ({ makeDomain }) => makeDomain({ enabled: false }) },
  delete_project: { project_id: ({ makeProject }) => makeProject() },
  delete_user: { user_id: ({ makeUser }) => makeUser() },
  create_identity_provider: { idp_id: () => unique('idp') },
  create_mapping: { mapping_id: () => unique('mapping') },
  create_service_provider: { service_provider_id: () => unique('provider') },
  create_protocol: { protocol_id: () => unique('protocol') },
};

/** The actions whose record is created by a PUT request with the same path. */
export const CREATED_BY_PUT: readonly string[] = [
  ...['check_user_in_group', 'remove_user_from_group', 'check_grant', 'revoke_grant'],
  ...['check_system_grant_for_user', 'revoke_system_grant_for_user'],
  ...['check_system_grant_for_group', 'revoke_system_grant_for_group'],
  ...['get_implied_role', 'check_implied_role', 'delete_implied_role', 'get_project_tag', 'delete_project_tag'],
  ...['check_endpoint_in_project', 'remove_endpoint_from_project'],
  ...['get_endpoint_group_in_project', 'remove_endpoint_group_from_project'],
  ...['endpoint', 'service', 'region_and_service'].map((kind) => `check_policy_association_for_${kind}`),
];

const protocol = async (cloud: PolicyCloud) => ({
  protocol: { mapping_id: await put(cloud, 'OS-FEDERATION/mappings', 'mapping', { rules }) },
});

/** Creates the records that a request requires in addition to those in its path. */
export const PREPARATIONS: Readonly<Record<string, (cloud: PolicyCloud, ids: Ids) => Promise<unknown>>> = {
  get_domain_config: ({ send }, { domain_id }) => send('PUT', `/v3/domains/${domain_id}/config`, config),
  update_domain_config: ({ send }, { domain_id }) => send('PUT', `/v3/domains/${domain_id}/config`, config),
  delete_domain_config: ({ send }, { domain_id }) => send('PUT', `/v3/domains/${domain_id}/config`, config),
  async get_policy_for_endpoint(cloud, { endpoint_id }) {
    const policy = await cloud.make('policies', 'policy', { blob: '{}', type: 'text/plain' });
    await cloud.send('PUT', `/v3/policies/${policy}/OS-ENDPOINT-POLICY/endpoints/${endpoint_id}`);
  },
  ...Object.fromEntries(
    ['get_protocol', 'update_protocol', 'delete_protocol'].map((action) => [
      action,
      async (cloud: PolicyCloud, { idp_id, protocol_id }: Ids) =>
        cloud.send(
          'PUT',
          `/v3/OS-FEDERATION/identity_providers/${idp_id}/protocols/${protocol_id}`,
          await protocol(cloud),
        ),
    ]),
  ),
};

const named = (one: string) => () => ({ [one]: { name: unique(one) } });
const inDomain =
  (one: string) =>
  ({ domain }: PolicyCloud) => ({ [one]: { name: unique(one), domain_id: domain } });
const described = (one: string) => () => ({ [one]: { description: unique('description') } });

/** Returns the bodies of requests, by action. */
export const BODIES: Readonly<Record<string, (cloud: PolicyCloud) => unknown>> = {
  ...{ create_domain: named('domain'), create_role: named('role'), create_domain_role: inDomain('role') },
  ...{ create_user: inDomain('user'), create_group: inDomain('group'), create_project: inDomain('project') },
  create_consumer: described('consumer'),
  create_region: described('region'),
  create_service: () => ({ service: { type: unique('type') } }),
  create_policy: () => ({ policy: { blob: '{}', type: 'text/plain' } }),
  create_endpoint: async (cloud) => ({
    endpoint: { interface: 'public', service_id: await makeService(cloud), url },
  }),
  create_endpoint_group: () => ({ endpoint_group: { name: unique('group'), filters: { interface: 'public' } } }),
  create_identity_provider: () => ({ identity_provider: {} }),
  create_mapping: () => ({ mapping: { rules } }),
  create_service_provider: () => ({ service_provider: { auth_url: url, sp_url: url } }),
  create_protocol: protocol,
  create_limits: projectLimit,
  create_registered_limits: async (cloud) => ({
    registered_limits: [{ service_id: await makeService(cloud), resource_name: 'cores', default_limit: 10 }],
  }),
  create_credential: ({ owner }) => ({ credential: { user_id: owner, type: 'totp', blob: 'x' } }),
  create_application_credential: named('application_credential'),
  create_trust: (cloud) => ({ trust: trustOf(cloud) }),
  create_domain_config: () => config,
  update_domain_config: () => config,
  ec2_create_credential: ({ project }) => ({ tenant_id: project }),
  s3tokens_validate: () => ({ credentials: { access: MISSING, signature: '', token: '' } }),
  authorize_request_token: () => ({ roles: [] }),
  update_project_tags: () => ({ tags: [TAG] }),
  update_credential: () => ({ credential: { blob: 'y' } }),
  update_endpoint: () => ({ endpoint: { enabled: true } }),
  update_limit: () => ({ limit: { resource_limit: 6 } }),
  update_mapping: () => ({ mapping: { rules } }),
  update_policy: () => ({ policy: { blob: '[]' } }),
  update_protocol: protocol,
  update_registered_limit: () => ({ registered_limit: { default_limit: 20 } }),
  update_service: () => ({ service: { enabled: true } }),
  ...Object.fromEntries(
    [
      'consumer',
      'domain',
      'endpoint_group',
      'group',
      'identity_provider',
      'project',
      'region',
      'role',
      'service_provider',
      'user',
    ].map((one) => [`update_${one}`, described(one)]),
  ),
  update_domain_role: described('role'),
};

/** The actions whose record is missing, because only a signed request of an OAuth or S3 client creates it. */
export const MISSING_RECORDS: readonly string[] = [
  ...['authorize_request_token', 'get_access_token', 'get_access_token_role', 'list_access_token_roles'],
  's3tokens_validate',
];
