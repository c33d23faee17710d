import { describeResources, type Sample, type SendRequest } from './resource-contract.js';

let count = 0;
const unique = (name: string) => `${name}-${++count}`;
const named = (name: string) => ({ create: () => ({ name: unique(name) }), change: { description: 'changed' } });

/** Creates a resource and returns its ID. */
async function make(request: SendRequest, path: string, one: string, fields: object): Promise<string> {
  return (await request('POST', path, { [one]: fields })).body[one].id;
}

const service = (request: SendRequest) => make(request, '/v3/services', 'service', { type: unique('type') });

/** Returns the ID of the administrator, or of the administrator's project. */
async function idOf(request: SendRequest, many: 'users' | 'projects'): Promise<string> {
  return (await request('GET', `/v3/${many}?name=admin`)).body[many][0].id;
}

const ofCaller: Pick<Sample, 'parameters'> = {
  parameters: async (request) => ({ user_id: await idOf(request, 'users') }),
};

async function registeredLimit(request: SendRequest) {
  const fields = { service_id: await service(request), resource_name: 'cores' };
  await request('POST', '/v3/registered_limits', { registered_limits: [{ ...fields, default_limit: 10 }] });
  return fields;
}

const rules = [{ local: [{ user: { name: '{0}' } }], remote: [{ type: 'REMOTE_USER' }] }];
const url = 'https://sp.example.org/v3';

describeResources('identity', {
  user: { ...named('user'), change: { enabled: true } },
  project: named('project'),
  domain: { ...named('domain'), change: { enabled: false } },
  group: named('group'),
  role: named('role'),
  credential: {
    create: async (request) => ({ blob: 'x', type: 'totp', user_id: await idOf(request, 'users') }),
    change: { blob: 'y' },
  },
  service: { create: () => ({ type: unique('type') }), change: { enabled: false } },
  endpoint: {
    create: async (request) => ({ interface: 'public', service_id: await service(request), url: 'http://x' }),
    change: { enabled: false },
  },
  region: { create: () => ({ description: unique('region') }), change: { description: 'changed' } },
  policy: { create: () => ({ blob: '{}', type: 'application/json' }), change: { blob: '[]' } },
  application_credential: { ...ofCaller, create: () => ({ name: unique('credential') }) },
  access_rule: {
    ...ofCaller,
    async existing(request) {
      const path = `/v3/users/${await idOf(request, 'users')}`;
      const access_rules = [{ path: '/v3/users', method: 'GET', service: 'identity' }];
      const credential = { name: unique('credential'), access_rules };
      const id = await make(request, `${path}/application_credentials`, 'application_credential', credential);
      await request('DELETE', `${path}/application_credentials/${id}`);
      return (await request('GET', `${path}/access_rules`)).body.access_rules[0].id;
    },
  },
  trust: {
    async create(request) {
      const trustee_user_id = await make(request, '/v3/users', 'user', { name: unique('trustee') });
      const trustor_user_id = await idOf(request, 'users');
      const project_id = await idOf(request, 'projects');
      return { trustor_user_id, trustee_user_id, project_id, impersonation: false, roles: [{ name: 'member' }] };
    },
  },
  registered_limit: {
    create: async (request) => ({ service_id: await service(request), resource_name: 'cores', default_limit: 10 }),
    change: { default_limit: 20 },
  },
  limit: {
    async create(request) {
      const project_id = await make(request, '/v3/projects', 'project', { name: unique('project') });
      return { ...(await registeredLimit(request)), project_id, resource_limit: 5 };
    },
    change: { resource_limit: 6 },
  },
  identity_provider: { create: () => ({ description: 'x' }), change: { enabled: true } },
  protocol: {
    async parameters(request) {
      await request('PUT', '/v3/OS-FEDERATION/mappings/m', { mapping: { rules } });
      await request('PUT', '/v3/OS-FEDERATION/identity_providers/idp', { identity_provider: {} });
      return { idp_id: 'idp' };
    },
    create: () => ({ mapping_id: 'm' }),
    change: { mapping_id: 'm' },
  },
  mapping: { create: () => ({ rules }), change: { rules } },
  service_provider: { create: () => ({ auth_url: url, sp_url: url }), change: { enabled: true } },
  endpoint_group: {
    create: () => ({ name: unique('group'), filters: { interface: 'public' } }),
    change: { description: 'changed' },
  },
  consumer: { create: () => ({ description: 'x' }), change: { description: 'changed' } },
});
