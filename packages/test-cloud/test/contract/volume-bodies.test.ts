import { expect, it } from 'vitest';
import { clientOf, cloudUnderTest } from '../clouds.js';
import { readFacts } from './operation-facts.js';
import { type FieldFact, invalidValues } from './resource-facts.js';
import { idOf, type SendRequest } from './volume-samples.js';

/** The body of a request that does not create or change a resource. */
interface BodyFact {
  /** The key of the object that contains the fields. */
  readonly envelope?: string;
  readonly valid: Readonly<Record<string, unknown>>;
  readonly request: Readonly<Record<string, FieldFact>>;
  /** Whether the body may contain other fields. */
  readonly additional?: true;
}

const facts = readFacts('volume');
const bodies = Object.entries(facts.bodies as Readonly<Record<string, BodyFact>>);

/** The values of path parameters. */
const PARAMETERS: Readonly<Record<string, (request: SendRequest) => Promise<string> | string>> = {
  volume_id: (request) => idOf(request, 'volumes', 'volume'),
  snapshot_id: (request) => idOf(request, 'snapshots', 'snapshot'),
  type_id: (request) => idOf(request, 'types', 'volume_type'),
  group_type_id: (request) => idOf(request, 'group_types', 'group_type'),
  backup_id: (request) => idOf(request, 'backups', 'backup'),
  transfer_id: (request) => idOf(request, 'volume-transfers', 'transfer'),
  qos_id: async (request) =>
    (await request('POST', 'qos-specs', { qos_specs: { name: 'q', k: 'v' } })).body.qos_specs.id,
  project_id: async (request) => (await request('GET', 'os-quota-sets/p/defaults')).body.quota_set.id,
  key: () => 'k',
  host: () => 'volumes@simulated',
  class: () => 'default',
};

/** Functions that send the requests that must come first and return the fields that refer to other resources. */
const VALID: Readonly<Record<string, (request: SendRequest, path: string) => Promise<object>>> = {
  'POST /v3/manageable_snapshots': async (request) => ({ volume_id: await idOf(request, 'volumes', 'volume') }),
  async 'PUT /v3/types/{type_id}/encryption/{key}'(request, path) {
    const encryption = { provider: 'luks', control_location: 'front-end' };
    await request('POST', path.replace('/k', ''), { encryption });
    return {};
  },
};

/** The statuses of valid requests that this cloud cannot fulfill. */
const REJECTED: Readonly<Record<string, number>> = {
  'POST /v3/volume-transfers/{transfer_id}/accept': 400,
  'POST /v3/backups/import_record': 400,
  'PUT /v3/os-services/failover_host': 400,
  'PUT /v3/clusters/enable': 404,
  'PUT /v3/clusters/disable': 404,
};

/** The messages about bodies that violate the facts. */
const INVALID = /^Invalid input for /;

it.each(bodies)('%s validates its body as the original', async (operation, fact) => {
  const cloud = await cloudUnderTest();
  const raw = clientOf(cloud);
  const request: SendRequest = (method, path, body) =>
    raw(method, `/volume/v3/${path}`, body, { 'OpenStack-API-Version': 'volume 3.71' });
  const [method = '', template = ''] = operation.split(' ');
  let path = template.slice('/v3/'.length);
  for (const [parameter, name = ''] of template.matchAll(/\{(\w+)\}/g))
    path = path.replace(parameter, (await PARAMETERS[name]?.(request)) ?? '');
  const valid: Readonly<Record<string, unknown>> = { ...fact.valid, ...(await VALID[operation]?.(request, path)) };
  const wrap = (fields: unknown) => (fact.envelope ? { [fact.envelope]: fields } : fields);

  const accepted: unknown[] = [];
  const expectRejected = async (problem: string, body: unknown) => {
    const response = await request(method, path, body);
    const { status } = response;
    // If this cloud also rejects the valid request, only the message shows why the invalid one is rejected.
    if (status !== 400 || (REJECTED[operation] === 400 && !INVALID.test(response.body.badRequest.message)))
      accepted.push(`${status} for ${problem}: ${JSON.stringify(body).slice(0, 100)}`);
  };
  for (const [key, field] of Object.entries(fact.request)) {
    for (const [problem, value] of invalidValues(field))
      await expectRejected(problem, wrap({ ...valid, [key]: value }));
    const { [key]: _, ...others } = valid;
    if (field.required) await expectRejected(`without ${key}`, wrap(others));
  }
  if (!fact.additional) await expectRejected('unknown field', wrap({ ...valid, unheard_of: 1 }));
  if (fact.envelope) await expectRejected('no envelope', {});
  expect(accepted).toEqual([]);

  const { status, body } = await request(method, path, wrap(valid));
  expect(status).toBe(REJECTED[operation] ?? facts.operations[template][method].status);
  expect(body.badRequest?.message ?? '').not.toMatch(INVALID);
});
