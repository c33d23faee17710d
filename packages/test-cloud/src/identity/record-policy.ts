import type { Call } from '../service/call.js';
import type { ResourceNames, Verb } from '../service/style.js';
import type { Wire } from '../service/wire.js';
import { authorize, subjectOf } from './authorize.js';
import type { Action } from './policies.js';
import type { Target } from './policy-checks.js';

const ACTION_VERBS = { list: 'list', show: 'get', create: 'create', change: 'update', remove: 'delete' } as const;

type RecordTarget = (record: Wire, call: Call) => Target;

/** Functions that return a record's policy target, by table. Policies check no fields of records in other tables. */
const RECORD_TARGETS: Readonly<Record<string, RecordTarget>> = {
  domains: ({ id }) => ({ domains: [id] }),
  projects: ({ id, domain_id }) => ({ project: id, domains: [domain_id] }),
  users: ({ id, domain_id }) => ({ owner: id, domains: [domain_id] }),
  groups: ({ domain_id }) => ({ domains: [domain_id] }),
  roles: (role) => ({ role }),
  credentials: ({ user_id }) => ({ owner: user_id }),
  trusts: ({ trustor_user_id, trustee_user_id }) => ({ owner: trustor_user_id, trustee: trustee_user_id }),
  limits: ({ project_id, domain_id }, { cloud }) => ({
    project: project_id,
    domains: [project_id ? cloud.directory.state.projects.get(String(project_id))?.domain_id : domain_id],
  }),
};

export const recordTarget = (call: Call, many: string, record: Wire): Target =>
  RECORD_TARGETS[many]?.(record, call) ?? {};

/** Returns the policy target of the record with an ID. As in Keystone, the target of a missing record is empty. */
export function targetOf(call: Call, many: string, id: string): Target {
  const record = call.cloud.documents.table<Wire>(`identity/${many}`).get(id);
  return record ? recordTarget(call, many, record) : {};
}

/**
 * Returns the domains of the records with the given tables and IDs. The domain of a missing record is undefined, which no
 * token has.
 */
export const domainsOf = (call: Call, ...records: readonly (readonly [many: string, id: string])[]) =>
  records.flatMap(([many, id]) => targetOf(call, many, id).domains ?? [undefined]);

const ownRecords = (call: Call): Target => {
  const { userId, domainId, scope } = subjectOf(call);
  return { domains: [domainId], owner: scope === 'system' ? undefined : userId };
};

/** The policy targets of list requests, by table. Default: the records of the caller and of the token's domain. */
const LIST_TARGETS: Readonly<Record<string, (call: Call) => Target>> = {
  trusts: (call) => ({ owner: call.text('trustor_user_id'), trustee: call.text('trustee_user_id') }),
};

type ActionName = (call: Call, verb: Verb, record: Wire | undefined) => Action | undefined;

const bulkCreation =
  (action: Action): ActionName =>
  (_call, verb) =>
    verb === 'create' ? action : undefined;

/** The names of actions that are not derived from the verb and the resource. */
const ACTION_NAMES: Readonly<Record<string, ActionName>> = {
  limits: bulkCreation('create_limits'),
  registered_limits: bulkCreation('create_registered_limits'),
  roles(call, verb, record) {
    if (verb === 'list') return call.text('domain_id') ? 'list_domain_roles' : undefined;
    return record?.domain_id ? `${ACTION_VERBS[verb]}_domain_role` : undefined;
  },
  trusts(call, verb) {
    if (verb !== 'list') return undefined;
    if (call.text('trustor_user_id')) return 'list_trusts_for_trustor';
    return call.text('trustee_user_id') ? 'list_trusts_for_trustee' : undefined;
  },
};

/** Returns the record in the body of a create request. The body may not have been validated. */
function requestedRecord({ req }: Call, { one }: ResourceNames): Wire | undefined {
  const requested = (req.body as Readonly<Record<string, unknown>> | undefined)?.[one];
  return typeof requested === 'object' && requested !== null ? (requested as Wire) : undefined;
}

/**
 * Returns the action that a request with the given verb performs, and the target of the action. `record` is undefined
 * if the record does not exist.
 */
export function requestedAction(call: Call, spec: ResourceNames, verb: Verb, record: Wire | undefined) {
  const { one, many } = spec;
  const accessedRecord = verb === 'create' ? requestedRecord(call, spec) : record;
  const derivedName = `${ACTION_VERBS[verb]}_${verb === 'list' ? many : one}` as Action;
  const action = ACTION_NAMES[many]?.(call, verb, accessedRecord) ?? derivedName;
  if (verb === 'list') return { action, target: (LIST_TARGETS[many] ?? ownRecords)(call) };
  return { action, target: accessedRecord && recordTarget(call, many, accessedRecord) };
}

/** Throws a 403 error if the caller may not perform an action on the record with this ID, which may not exist. */
export function authorizeById(call: Call, action: Action, many: string, id: string): void {
  authorize(call, action, targetOf(call, many, id));
}
