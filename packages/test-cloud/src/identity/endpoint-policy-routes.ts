import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { del, get, noContent, put, type Route } from '../service/route.js';
import { notFound } from '../service/service-error.js';
import { showEndpoint } from './catalog.js';
import { listOf } from './identity-style.js';

/** Associates a policy with an endpoint, or with a service's endpoints in one region or in all regions. */
interface Association {
  readonly policy: string;
  readonly endpoint?: string;
  readonly service?: string;
  readonly region?: string;
}

/** The tables of the records that a path can name, by path parameter. */
const TABLES = { policy: 'policies', endpoint: 'endpoints', service: 'services', region: 'regions' } as const;
type Kind = keyof typeof TABLES;

const BASE = '/v3/policies/:policy/OS-ENDPOINT-POLICY';
const PATHS = ['endpoints/:endpoint', 'services/:service', 'services/:service/regions/:region'];

/** Returns the routes that associate policies with endpoints. No service of this cloud reads these policies. */
export function endpointPolicyRoutes(): readonly Route[] {
  const table = ({ cloud }: Call, kind: Kind) => cloud.documents.table<Doc>(`identity/${TABLES[kind]}`);
  const associations = ({ cloud }: Call) => cloud.documents.table<Association>('identity/policy-associations');
  /** Returns the association with a key; undefined if it does not exist or its policy was deleted. */
  function at(call: Call, key: string): Association | undefined {
    const found = associations(call).get(key);
    return found && table(call, 'policy').has(found.policy) ? found : undefined;
  }
  const missing = () => notFound('Could not find policy association.');
  const keyOf = ({ endpoint = '', service = '', region = '' }: Omit<Association, 'policy'>) =>
    [endpoint, service, region].join('/');

  /** Returns the record IDs in the path. Throws a 404 error if one of these records does not exist. */
  function find(call: Call): Association {
    call.requireAdmin();
    const ids = call.req.params as { readonly [kind in Kind]?: string };
    for (const kind of Object.keys(TABLES) as Kind[]) {
      const id = ids[kind];
      if (id !== undefined && !table(call, kind).has(id)) throw notFound(`Could not find ${kind}: ${id}.`);
    }
    return { ...ids } as Association;
  }

  /** Returns an endpoint's policy: from the endpoint, its service in its region or a parent region, or its service. */
  function policyOf(call: Call, { id, service_id, region_id }: Doc): string | undefined {
    const service = String(service_id);
    const seen = new Set<unknown>();
    let found = at(call, keyOf({ endpoint: id }));
    for (let region = region_id; !found && region && !seen.has(region); ) {
      seen.add(region);
      found = at(call, keyOf({ service, region: String(region) }));
      region = table(call, 'region').get(String(region))?.parent_region_id;
    }
    return (found ?? at(call, keyOf({ service })))?.policy;
  }

  /** Returns whether a region has the ID `root`, or is below the region with this ID. */
  function isWithin(call: Call, id: unknown, root: string, seen: readonly unknown[] = []): boolean {
    if (id === root) return true;
    const parent = table(call, 'region').get(String(id))?.parent_region_id;
    return !!parent && !seen.includes(parent) && isWithin(call, parent, root, [...seen, id]);
  }

  const covers = (call: Call, { endpoint, service, region }: Association, candidate: Doc) =>
    endpoint === undefined
      ? candidate.service_id === service && (region === undefined || isWithin(call, candidate.region_id, region))
      : candidate.id === endpoint;

  return [
    ...PATHS.flatMap((path) => [
      get(`${BASE}/${path}`, (call) => {
        const requested = find(call);
        if (associations(call).get(keyOf(requested))?.policy !== requested.policy) throw missing();
        return noContent();
      }),
      put(`${BASE}/${path}`, (call) => {
        const requested = find(call);
        associations(call).set(keyOf(requested), requested);
        return noContent();
      }),
      del(`${BASE}/${path}`, (call) => {
        const requested = find(call);
        if (associations(call).get(keyOf(requested))?.policy === requested.policy)
          associations(call).delete(keyOf(requested));
        return noContent();
      }),
    ]),
    get(`${BASE}/endpoints`, (call) => {
      const { policy } = find(call);
      const own = [...associations(call).values()].filter((one) => one.policy === policy);
      const endpoints = [...table(call, 'endpoint').values()];
      const matching = own.flatMap((one) => endpoints.filter((endpoint) => covers(call, one, endpoint)));
      return listOf(
        'endpoints',
        call,
        matching.map((endpoint) => showEndpoint(endpoint, call.cloudBase)),
      );
    }),
    get('/v3/endpoints/:endpoint/OS-ENDPOINT-POLICY/policy', (call) => {
      const { endpoint } = find(call);
      const found = table(call, 'endpoint').get(String(endpoint));
      const id = found && policyOf(call, found);
      const policy = id && table(call, 'policy').get(id);
      if (!policy) throw missing();
      return { policy: { ...policy, links: { self: `${call.base}/v3/endpoints/${id}` } } };
    }),
  ];
}
