import { derived, fixed, required, settable } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import { integerBetween, text } from '../service/wire-types.js';
import { checkHelper } from './conntrack-checks.js';
import { standardFields } from './standard-fields.js';

/** Helpers for protocols that open additional connections. */
export const conntrackHelpers: ResourceSpec = {
  path: 'routers/:router_id/conntrack_helpers',
  one: 'conntrack_helper',
  many: 'conntrack_helpers',
  within: ['router_id'],
  fields: () => ({
    ...standardFields,
    router_id: derived(),
    helper: required(settable(text)),
    protocol: required(fixed(text)),
    port: required(settable(integerBetween(1, 65_535))),
  }),
  creating: checkHelper,
  changing: (call, before, change) => checkHelper(call, { ...before, ...change }),
};
