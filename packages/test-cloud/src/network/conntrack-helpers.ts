import { derived, required, settable } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import { integerBetween, text } from '../service/wire-types.js';
import { checkConntrackHelper } from './conntrack-checks.js';
import { hiddenOwner, hiddenStamps } from './standard-fields.js';

/** Conntrack helpers on routers, for protocols that open additional connections. */
export const conntrackHelpers: ResourceSpec = {
  path: 'routers/:router_id/conntrack_helpers',
  one: 'conntrack_helper',
  many: 'conntrack_helpers',
  policyName: 'router_conntrack_helper',
  within: ['router_id'],
  fields: () => ({
    ...hiddenOwner,
    ...hiddenStamps,
    router_id: derived(undefined, { hidden: true }),
    helper: required(settable(text)),
    protocol: required(settable(text)),
    port: required(settable(integerBetween(1, 65_535))),
  }),
  creating: checkConntrackHelper,
  changing: (call, before, change) => checkConntrackHelper(call, { ...before, ...change }),
};
