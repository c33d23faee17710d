import type { Call } from '../service/call.js';
import type { Resource } from '../service/resource.js';
import { created, del, get, head, noContent, put, type Route } from '../service/route.js';
import { forbidden, notFound } from '../service/service-error.js';
import type { NamedRecord } from './identity-records.js';

/** Returns the routes for implied roles. */
export function impliedRoleRoutes(_resource: Resource): readonly Route[] {
  const roleSummary = (call: Call, { id, name }: NamedRecord) => ({
    id,
    name,
    links: { self: `${call.base}/v3/roles/${id}` },
  });

  /** Returns a role. As in Keystone, callers without permission learn whether the role exists. */
  function role(call: Call, id: string): NamedRecord {
    const role = call.cloud.directory.state.roles.get(id);
    if (!role) throw notFound(`Could not find role: ${id}.`);
    call.requireAdmin();
    return role;
  }

  const selfLinks = (call: Call) => ({ self: `${call.cloudBase}${call.req.originalUrl}` });

  function inference(call: Call, prior: string) {
    const implied = call.cloud.directory.state.implied.get(prior) ?? [];
    return {
      prior_role: roleSummary(call, role(call, prior)),
      implies: implied.map((id) => roleSummary(call, role(call, id))),
    };
  }

  /** Returns the prior and the implied role in the path. Throws a 404 error if the implication does not exist. */
  function requireImplication(call: Call) {
    const prior = role(call, call.param('prior'));
    const implied = role(call, call.param('implied'));
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
      call.requireAdmin();
      const implications = [...call.cloud.directory.state.implied].filter(([, implied]) => implied.length > 0);
      return { role_inferences: implications.map(([prior]) => inference(call, prior)), links: selfLinks(call) };
    }),
    get('/v3/roles/:prior/implies', (call) => ({
      role_inference: inference(call, call.param('prior')),
      links: selfLinks(call),
    })),
    head('/v3/roles/:prior/implies/:implied', (call) => {
      requireImplication(call);
      return noContent();
    }),
    get('/v3/roles/:prior/implies/:implied', (call) => {
      const { prior, implied } = requireImplication(call);
      return inferenceView(call, prior, implied);
    }),
    put('/v3/roles/:prior/implies/:implied', (call) => {
      const prior = role(call, call.param('prior'));
      const implied = role(call, call.param('implied'));
      if (implied.name === 'admin') throw forbidden(`${implied.id} cannot be an implied roles.`);
      if (!prior.domain_id && implied.domain_id) throw forbidden('Global role cannot imply a domain-specific role');
      const table = call.cloud.directory.state.implied;
      table.set(prior.id, [...new Set([...(table.get(prior.id) ?? []), implied.id])]);
      return created(inferenceView(call, prior, implied));
    }),
    del('/v3/roles/:prior/implies/:implied', (call) => {
      const { prior, implied } = requireImplication(call);
      const table = call.cloud.directory.state.implied;
      table.set(
        prior.id,
        (table.get(prior.id) ?? []).filter((id) => id !== implied.id),
      );
      return noContent();
    }),
  ];
}
