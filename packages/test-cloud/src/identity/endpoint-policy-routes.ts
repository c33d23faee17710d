import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { del, get, noContent, put, type Route } from '../service/route.js';
import { notFound } from '../service/service-error.js';
import { authorize } from './authorize.js';
import { showEndpoint } from './catalog.js';
import { listOf } from './identity-style.js';
import type { Action } from './policies.js';

/** Associates a policy with an endpoint, or with a service's endpoints in one region or in all regions. */
interface Association {
  readonly policy: string;
  readonly endpoint?: string;
  readonly service?: string;
  readonly region?: string;
}

/** The tables that contain the records in a path, by path parameter. */
const TABLES_BY_PARAMETER = {
  policy: 'policies',
  endpoint: 'endpoints',
  service: 'services',
  region: 'regions',
} as const;
type RecordKind = keyof typeof TABLES_BY_PARAMETER;

const POLICY_PATH = '/v3/policies/:policy/OS-ENDPOINT-POLICY';
/** The path of each kind of association, and the kind's name in policies. */
const ASSOCIATION_PATHS = [
  ['endpoints/:endpoint', 'endpoint'],
  ['services/:service', 'service'],
  ['services/:service/regions/:region', 'region_and_service'],
] as const;

/** Returns the routes that associate policies with endpoints. No service of this cloud reads these policies. */
export function endpointPolicyRoutes(): readonly Route[] {
  const table = ({ cloud }: Call, kind: RecordKind) =>
    cloud.documents.table<Doc>(`identity/${TABLES_BY_PARAMETER[kind]}`);
  const associations = ({ cloud }: Call) => cloud.documents.table<Association>('identity/policy-associations');
  /** Returns the association with the given key; undefined if it does not exist or its policy was deleted. */
  function findAssociation(call: Call, key: string): Association | undefined {
    const found = associations(call).get(key);
    return found && table(call, 'policy').has(found.policy) ? found : undefined;
  }
  const missingAssociation = () => notFound('Could not find policy association.');
  const keyOf = ({ endpoint = '', service = '', region = '' }: Omit<Association, 'policy'>) =>
    [endpoint, service, region].join('/');

  /** Returns the record IDs in the path. Throws a 404 error if one of these records does not exist. */
  function requestedIds(call: Call, action: Action): Association {
    authorize(call, action);
    const ids = call.req.params as { readonly [kind in RecordKind]?: string };
    for (const kind of Object.keys(TABLES_BY_PARAMETER) as RecordKind[]) {
      const id = ids[kind];
      if (id !== undefined && !table(call, kind).has(id)) throw notFound(`Could not find ${kind}: ${id}.`);
    }
    return { ...ids } as Association;
  }

  /**
   * Returns an endpoint's own policy. If it has none, returns its service's policy for its region, the nearest parent
   * region or all regions.
   */
  function findPolicyId(call: Call, { id, service_id, region_id }: Doc): string | undefined {
    const service = String(service_id);
    const visitedIds = new Set<unknown>();
    let found = findAssociation(call, keyOf({ endpoint: id }));
    for (let region = region_id; !found && region && !visitedIds.has(region); ) {
      visitedIds.add(region);
      found = findAssociation(call, keyOf({ service, region: String(region) }));
      region = table(call, 'region').get(String(region))?.parent_region_id;
    }
    return (found ?? findAssociation(call, keyOf({ service })))?.policy;
  }

  /** Returns whether a region has the ID `root`, or is below the region with this ID. */
  function isRegionWithin(call: Call, id: unknown, root: string, visitedIds: readonly unknown[] = []): boolean {
    if (id === root) return true;
    const parent = table(call, 'region').get(String(id))?.parent_region_id;
    return !!parent && !visitedIds.includes(parent) && isRegionWithin(call, parent, root, [...visitedIds, id]);
  }

  const covers = (call: Call, { endpoint, service, region }: Association, candidate: Doc) =>
    endpoint === undefined
      ? candidate.service_id === service && (region === undefined || isRegionWithin(call, candidate.region_id, region))
      : candidate.id === endpoint;

  return [
    ...ASSOCIATION_PATHS.flatMap(([path, kind]) => [
      get(`${POLICY_PATH}/${path}`, (call) => {
        const requested = requestedIds(call, `check_policy_association_for_${kind}`);
        if (associations(call).get(keyOf(requested))?.policy !== requested.policy) throw missingAssociation();
        return noContent();
      }),
      put(`${POLICY_PATH}/${path}`, (call) => {
        const requested = requestedIds(call, `create_policy_association_for_${kind}`);
        associations(call).set(keyOf(requested), requested);
        return noContent();
      }),
      del(`${POLICY_PATH}/${path}`, (call) => {
        const requested = requestedIds(call, `delete_policy_association_for_${kind}`);
        if (associations(call).get(keyOf(requested))?.policy === requested.policy)
          associations(call).delete(keyOf(requested));
        return noContent();
      }),
    ]),
    get(`${POLICY_PATH}/endpoints`, (call) => {
      const { policy } = requestedIds(call, 'list_endpoints_for_policy');
      const policyAssociations = [...associations(call).values()].filter((one) => one.policy === policy);
      const endpoints = [...table(call, 'endpoint').values()];
      const coveredEndpoints = policyAssociations.flatMap((one) =>
        endpoints.filter((endpoint) => covers(call, one, endpoint)),
      );
      return listOf(
        'endpoints',
        call,
        coveredEndpoints.map((endpoint) => showEndpoint(endpoint, call.cloudBase)),
      );
    }),
    get('/v3/endpoints/:endpoint/OS-ENDPOINT-POLICY/policy', (call) => {
      const { endpoint } = requestedIds(call, 'get_policy_for_endpoint');
      const found = table(call, 'endpoint').get(String(endpoint));
      const id = found && findPolicyId(call, found);
      const policy = id && table(call, 'policy').get(id);
      if (!policy) throw missingAssociation();
      return { policy: { ...policy, links: { self: `${call.base}/v3/endpoints/${id}` } } };
    }),
  ];
}
