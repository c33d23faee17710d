import { derived, fixed, required, settable } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import { text, wholeBetween } from '../service/wire-types.js';
import { standardFields } from './standard-fields.js';

/** Help for protocols that open connections of their own. */
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
    port: required(settable(wholeBetween(1, 65_535))),
  }),
};
