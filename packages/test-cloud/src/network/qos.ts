import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { derived, type Fields, required, settable } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import { get, type Route } from '../service/route.js';
import { conflict, notFound } from '../service/service-error.js';
import { tagRoutes } from '../service/tag-routes.js';
import type { Wire } from '../service/wire.js';
import { flag, integer, integerBetween } from '../service/wire-types.js';
import { missingResource, networkError } from './network-errors.js';
import { notAllowedError, policyFor } from './network-style.js';
import { EVERY_PROJECT, isAccessible } from './sharing.js';
import { rejectUsedGrant, usersOfQosPolicy } from './sharing-users.js';
import { hiddenStamps, nameFields, standardFields } from './standard-fields.js';

/** The allowed values of a QoS rule parameter: a range of numbers, or a list of values. */
type Parameter = { readonly start: number; readonly end: number } | readonly (number | string)[];

const RATE_RANGE: Parameter = { start: 0, end: 2 ** 31 - 1 };
const DIRECTIONS = ['ingress', 'egress'];
const DIRECTIONS_WITH_ANY = [...DIRECTIONS, 'any'];
const DSCP_MARKS = [0, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 44, 46, 48, 56];

/** The parameters of QoS rules, by rule type. */
const RULE_PARAMETERS: Readonly<Record<string, Readonly<Record<string, Parameter>>>> = {
  bandwidth_limit: { max_kbps: RATE_RANGE, max_burst_kbps: RATE_RANGE, direction: DIRECTIONS },
  dscp_marking: { dscp_mark: DSCP_MARKS },
  minimum_bandwidth: { min_kbps: RATE_RANGE, direction: DIRECTIONS },
  packet_rate_limit: { max_kpps: RATE_RANGE, max_burst_kpps: RATE_RANGE, direction: DIRECTIONS },
  minimum_packet_rate: { min_kpps: RATE_RANGE, direction: DIRECTIONS_WITH_ANY },
};

/** The default values of optional parameters. Parameters without a default value are required. */
const PARAMETER_DEFAULTS: Readonly<Record<string, unknown>> = {
  max_burst_kbps: 0,
  max_burst_kpps: 0,
  direction: 'egress',
};

const isValueList = (parameter: Parameter): parameter is readonly (number | string)[] => Array.isArray(parameter);

function schemaOf(parameter: Parameter): z.ZodType {
  if (!isValueList(parameter)) return integerBetween(parameter.start, parameter.end);
  const type: z.ZodType = typeof parameter[0] === 'number' ? integer : z.string();
  return type.refine((value) => parameter.includes(value as number | string), 'is not in valid_values');
}

const ruleFields = (type: string): Fields =>
  Object.fromEntries(
    Object.entries(RULE_PARAMETERS[type] ?? {}).map(([name, parameter]) => {
      const defaultValue = PARAMETER_DEFAULTS[name];
      const field = settable(schemaOf(parameter), defaultValue);
      return [name, defaultValue === undefined ? required(field) : field];
    }),
  );

/** As in Neutron, changes to QoS policies and rules require the role `manager`. */
const managerRoles = { create: 'manager', change: 'manager', remove: 'manager' } as const;
const ruleTableName = (type: string) => `network/${type}_rules`;

const policyTable = ({ cloud }: Call) => cloud.documents.table<Doc>('network/policies');

/** Returns a project's default QoS policy, which applies to its new networks; undefined if it has none. */
export const defaultPolicyOf = (call: Call, project: unknown) =>
  [...policyTable(call).values()].find(({ is_default, project_id }) => is_default && project_id === project);

/** Rejects a second default QoS policy for a project. */
function rejectSecondDefault(call: Call, { id, is_default, project_id }: Wire): undefined {
  const existingDefaultPolicy = is_default === true ? defaultPolicyOf(call, project_id) : undefined;
  if (existingDefaultPolicy && existingDefaultPolicy.id !== id)
    throw networkError('QoSPolicyDefaultAlreadyExists', `A default QoS policy exists for project ${project_id}.`);
}

/** Returns a QoS policy. Throws `QosPolicyNotFound` if the caller cannot see it. */
function requirePolicy(call: Call, id: unknown): Doc {
  const policy = policyTable(call).get(String(id));
  if (!policy || !isAccessible(call, policy)) throw missingResource(qosPolicies.title, String(id));
  return policy;
}

const grantOfQosPolicy = (id: string) => ({ object_type: 'qos_policy', object_id: id, action: 'access_as_shared' });

/** Extends a resource so that it rejects QoS policies that the caller cannot see. */
export function withQosPolicy(spec: ResourceSpec): ResourceSpec {
  const { creating, changing } = spec;
  return {
    ...spec,
    async creating(call, doc, resource) {
      if (doc.qos_policy_id) requirePolicy(call, doc.qos_policy_id);
      return creating?.(call, doc, resource);
    },
    changing(call, before, change) {
      if (change.qos_policy_id) requirePolicy(call, change.qos_policy_id);
      return changing?.(call, before, change);
    },
  };
}

/** QoS policies, whose rules limit, mark or guarantee port traffic. */
export const qosPolicies = {
  path: 'qos/policies',
  one: 'policy',
  many: 'policies',
  title: 'QoS policy',
  roles: managerRoles,
  hidesSharedOnChange: true,
  tags: true,
  fields: () => ({
    ...standardFields,
    ...nameFields,
    shared: settable(flag, false, { admin: 'write', filter: 'only' }),
    is_default: settable(flag, false, { filter: 'only' }),
    rules: derived(undefined, { filter: false }),
  }),
  shows: ({ cloud }, { id }) => ({
    rules: Object.keys(RULE_PARAMETERS).flatMap((type) =>
      [...cloud.documents.table<Doc>(ruleTableName(type)).values()]
        .filter(({ policy_id }) => policy_id === id)
        .map(({ policy_id, ...rule }) => ({ ...rule, type, qos_policy_id: policy_id })),
    ),
  }),
  creating: (call, policy) => rejectSecondDefault(call, policy),
  async changing(call, before, change) {
    rejectSecondDefault(call, { ...before, ...change });
    if (before.shared && change.shared === false)
      await rejectUsedGrant(call, { ...grantOfQosPolicy(before.id), target_tenant: EVERY_PROJECT });
    return undefined;
  },
  // Neutron has the tags at `/policies`, but clients use `/qos/policies`.
  routes: (resource) => [...tagRoutes(resource, 'policies'), ...tagRoutes(resource)],
  async removing(call, { id }) {
    const { cloud } = call;
    const [user] = await usersOfQosPolicy(call, id);
    if (user) throw conflict(`QoS Policy ${id} is used by ${user.what}.`, 'QosPolicyInUse');
    for (const type of Object.keys(RULE_PARAMETERS)) {
      const rules = cloud.documents.table<Doc>(ruleTableName(type));
      for (const rule of rules.values()) if (rule.policy_id === id) rules.delete(rule.id);
    }
  },
} satisfies ResourceSpec;

/** The QoS rules of each type. Their paths are below the path of their policy. */
export const qosRules: readonly ResourceSpec[] = Object.keys(RULE_PARAMETERS).map((type) => ({
  path: `qos/policies/:policy_id/${type}_rules`,
  one: `${type}_rule`,
  many: `${type}_rules`,
  title: 'QoS rule',
  policyName: `policy_${type}_rule`,
  roles: managerRoles,
  within: ['policy_id'],
  requireParent(call, verb) {
    const { project_id } = requirePolicy(call, call.param('policy_id'));
    // Other projects may read the rules of a shared policy, but not change them.
    const isForeign = !call.isAdmin && project_id !== call.caller.projectId;
    if (isForeign && verb in managerRoles) throw notAllowedError(policyFor(verb, { one: `policy_${type}_rule` }));
  },
  fields: () => ({
    id: derived(),
    ...hiddenStamps,
    ...ruleFields(type),
    policy_id: derived(undefined, { hidden: true }),
  }),
  creating(call, requested) {
    const policyId = call.param('policy_id');
    const rulesOfType = [...call.cloud.documents.table<Doc>(ruleTableName(type)).values()];
    if (rulesOfType.some((rule) => rule.policy_id === policyId && rule.direction === requested.direction))
      throw conflict(`Rule ${type} already exists in QoS Policy ${policyId}.`, 'QoSRulesConflict');
  },
}));

/** Returns the routes for QoS rule types. */
export function qosTypeRoutes(): readonly Route[] {
  const supportedParameters = (parameters: Readonly<Record<string, Parameter>>) =>
    Object.entries(parameters).map(([parameter_name, parameter]) => ({
      parameter_name,
      parameter_type: isValueList(parameter) ? 'choices' : 'range',
      parameter_values: parameter,
    }));
  return [
    get('/v2.0/qos/rule-types', () => ({ rule_types: Object.keys(RULE_PARAMETERS).map((type) => ({ type })) })),
    get('/v2.0/qos/rule-types/:type', (call) => {
      if (!call.isAdmin) throw networkError('NotAuthorized', 'Not authorized.');
      const type = call.param('type');
      const parameters = Object.hasOwn(RULE_PARAMETERS, type) ? RULE_PARAMETERS[type] : undefined;
      if (!parameters) throw notFound(`Rule type ${type} could not be found.`, 'QosRuleNotFound');
      return {
        rule_type: { type, drivers: [{ name: 'simulated', supported_parameters: supportedParameters(parameters) }] },
      };
    }),
  ];
}
