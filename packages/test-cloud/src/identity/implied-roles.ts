import type { Call } from '../service/call.js';
import type { Resource } from '../service/resource.js';
import { created, del, get, head, noContent, put, type Route } from '../service/route.js';
import { forbidden, notFound } from '../service/service-error.js';
import { authorize } from './authorize.js';
import type { NamedRecord } from './identity-records.js';
import type { Action } from './policies.js';

/** Returns the routes for implied roles. */
export function impliedRoleRoutes(_resource: Resource): readonly Route[] {
  const roleSummary = (call: Call, { id, name }: NamedRecord) => ({
    id,
    name,
    links: { self: `${call.base}/v3/roles/${id}` },
  });

  /** Returns a role. As in Keystone, callers without permission learn whether the role exists. */
  function role(call: Call, id: string, action: Action): NamedRecord {
    const role = call.cloud.directory.state.roles.get(id);
    if (!role) throw notFound(`Could not find role: ${id}.`);
    authorize(call, action);
    return role;
  }

  const selfLinks = (call: Call) => ({ self: `${call.cloudBase}${call.req.originalUrl}` });

  function inference(call: Call, prior: NamedRecord) {
    const { implied, roles } = call.cloud.directory.state;
    const impliedRoles = (implied.get(prior.id) ?? []).flatMap((id) => roles.get(id) ?? []);
    return {
      prior_role: roleSummary(call, prior),
      implies: impliedRoles.map((impliedRole) => roleSummary(call, impliedRole)),
    };
  }

  /** Returns the prior and the implied role in the path. Throws a 404 error if one of them does not exist. */
  function requestedRoles(call: Call, action: Action) {
    return { prior: role(call, call.param('prior'), action), implied: role(call, call.param('implied'), action) };
  }

  /** Returns the prior and the implied role in the path. Throws a 404 error if the implication does not exist. */
  function requireImplication(call: Call, action: Action) {
    const { prior, implied } = requestedRoles(call, action);
    if (!call.cloud.directory.state.implied.get(prior.id)?.includes(implied.id))
      throw notFound(`${prior.id} does not imply ${implied.id}.`);
    return { prior, implied };
  }

  const inferenceView = (call: Call, prior: NamedRecord, implied: NamedRecord) => ({
    role_inference: { prior_role: roleSummary(call, prior), implies: roleSummary(call, implied) },
    links: selfLinks(call),
  });

  return [
    get('/v3/role_inferences', (call) => {
      authorize(call, 'list_role_inference_rules');
      const { implied, roles } = call.cloud.directory.state;
      const priorRoles = [...implied].flatMap(([id, ids]) => (ids.length > 0 && roles.get(id)) || []);
      return { role_inferences: priorRoles.map((prior) => inference(call, prior)), links: selfLinks(call) };
    }),
    get('/v3/roles/:prior/implies', (call) => ({
      role_inference: inference(call, role(call, call.param('prior'), 'list_implied_roles')),
      links: selfLinks(call),
    })),
    head('/v3/roles/:prior/implies/:implied', (call) => {
      requireImplication(call, 'check_implied_role');
      return noContent();
    }),
    get('/v3/roles/:prior/implies/:implied', (call) => {
      const { prior, implied } = requireImplication(call, 'get_implied_role');
      return inferenceView(call, prior, implied);
    }),
    put('/v3/roles/:prior/implies/:implied', (call) => {
      const { prior, implied } = requestedRoles(call, 'create_implied_role');
      if (implied.name === 'admin') throw forbidden(`${implied.id} cannot be an implied roles.`);
      if (!prior.domain_id && implied.domain_id) throw forbidden('Global role cannot imply a domain-specific role');
      const table = call.cloud.directory.state.implied;
      table.set(prior.id, [...new Set([...(table.get(prior.id) ?? []), implied.id])]);
      return created(inferenceView(call, prior, implied));
    }),
    del('/v3/roles/:prior/implies/:implied', (call) => {
      const { prior, implied } = requireImplication(call, 'delete_implied_role');
      const table = call.cloud.directory.state.implied;
      table.set(
        prior.id,
        (table.get(prior.id) ?? []).filter((id) => id !== implied.id),
      );
      return noContent();
    }),
  ];
}
