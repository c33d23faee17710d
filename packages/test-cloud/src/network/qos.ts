import { z } from 'zod';
import type { Doc } from '../service/documents.js';
import { derived, type Fields, required, settable } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import { get, type Route } from '../service/route.js';
import { conflict, notFound } from '../service/service-error.js';
import { flag, integerBetween } from '../service/wire-types.js';
import { named, standardFields } from './standard-fields.js';

const rate = integerBetween(0, 2 ** 31 - 1);
const direction = (initial: string) => settable(z.enum(['ingress', 'egress', 'any']), initial);

/** The rules of a policy by type. */
const RULES: Readonly<Record<string, () => Fields>> = {
  bandwidth_limit: () => ({
    max_kbps: required(settable(rate)),
    max_burst_kbps: settable(rate, 0),
    direction: direction('egress'),
  }),
  dscp_marking: () => ({ dscp_mark: required(settable(integerBetween(0, 56))) }),
  minimum_bandwidth: () => ({ min_kbps: required(settable(rate)), direction: direction('egress') }),
  packet_rate_limit: () => ({
    max_kpps: required(settable(rate)),
    max_burst_kpps: settable(rate, 0),
    direction: direction('egress'),
  }),
  minimum_packet_rate: () => ({ min_kpps: required(settable(rate)), direction: direction('egress') }),
};

const hidden = { hidden: true } as const;
/** As in the original, only administrators change policies. */
const admin = ['create', 'change', 'remove'] as const;
const table = (type: string) => `network/${type}_rules`;

/** Policies for the traffic of ports. */
export const qosPolicies: ResourceSpec = {
  path: 'qos/policies',
  one: 'policy',
  many: 'policies',
  title: 'QoS policy',
  admin,
  tags: true,
  fields: () => ({
    ...standardFields,
    ...named,
    shared: settable(flag, false, { admin: 'write' }),
    is_default: settable(flag, false),
    rules: derived(undefined, { filter: false }),
  }),
  shows: ({ cloud }, { id }) => ({
    rules: Object.keys(RULES).flatMap((type) =>
      [...cloud.documents.table<Doc>(table(type)).values()]
        .filter(({ policy_id }) => policy_id === id)
        .map(({ policy_id, ...rule }) => ({ ...rule, type, qos_policy_id: policy_id })),
    ),
  }),
  removing({ cloud }, { id }) {
    for (const many of ['networks', 'ports'])
      for (const [user, { qos_policy_id }] of cloud.documents.table<Doc>(`network/${many}`))
        if (qos_policy_id === id)
          throw conflict(`QoS Policy ${id} is used by ${many.slice(0, -1)} ${user}.`, 'QosPolicyInUse');
    for (const type of Object.keys(RULES)) {
      const rules = cloud.documents.table<Doc>(table(type));
      for (const rule of rules.values()) if (rule.policy_id === id) rules.delete(rule.id);
    }
  },
};

/** The rules of each type, nested in their policy. */
export const qosRules: readonly ResourceSpec[] = Object.entries(RULES).map(([type, fields]) => ({
  path: `qos/policies/:policy_id/${type}_rules`,
  one: `${type}_rule`,
  many: `${type}_rules`,
  title: 'QoS rule',
  admin,
  within: ['policy_id'],
  fields: () => ({
    id: derived(),
    ...fields(),
    policy_id: derived(undefined, hidden),
    created_at: derived(undefined, hidden),
    updated_at: derived(undefined, hidden),
    revision_number: derived(undefined, hidden),
  }),
  creating(call, given) {
    const policyId = call.param('policy_id');
    if (!call.cloud.documents.table(`network/policies`).has(policyId))
      throw notFound(`QoS policy ${policyId} could not be found.`, 'QosPolicyNotFound');
    const others = [...call.cloud.documents.table<Doc>(table(type)).values()];
    if (others.some((rule) => rule.policy_id === policyId && rule.direction === given.direction))
      throw conflict(`Rule ${type} already exists in QoS Policy ${policyId}.`, 'QoSRulesConflict');
  },
}));

/** Routes of the rule types. */
export function qosTypeRoutes(): readonly Route[] {
  const drivers = [{ name: 'simulated', supported_parameters: [] }];
  return [
    get('/v2.0/qos/rule-types', () => ({ rule_types: Object.keys(RULES).map((type) => ({ type })) })),
    get('/v2.0/qos/rule-types/:type', (call) => {
      const type = call.param('type');
      if (!Object.hasOwn(RULES, type)) throw notFound(`Rule type ${type} could not be found.`, 'QosRuleNotFound');
      return { rule_type: { type, drivers } };
    }),
  ];
}
