import type { Call } from '../service/call.js';
import type { Resource } from '../service/resource.js';
import { created, del, get, head, noContent, put, type Route } from '../service/route.js';
import { forbidden, notFound } from '../service/service-error.js';
import type { Named } from './identity-records.js';

/** Returns the routes for implied roles. */
export function impliedRoleRoutes(_resource: Resource): readonly Route[] {
  const brief = (call: Call, { id, name }: Named) => ({ id, name, links: { self: `${call.base}/v3/roles/${id}` } });

  /** Returns a role. As in Keystone, callers without permission learn whether the role exists. */
  function role(call: Call, id: string): Named {
    const role = call.cloud.directory.state.roles.get(id);
    if (!role) throw notFound(`Could not find role: ${id}.`);
    call.requireAdmin();
    return role;
  }

  const links = (call: Call) => ({ self: `${call.cloudBase}${call.req.originalUrl}` });

  function inference(call: Call, prior: string) {
    const implied = call.cloud.directory.state.implied.get(prior) ?? [];
    return {
      prior_role: brief(call, role(call, prior)),
      implies: implied.map((id) => brief(call, role(call, id))),
    };
  }

  /** Returns the prior and the implied role in the path. Throws a 404 error if the implication does not exist. */
  function pair(call: Call) {
    const prior = role(call, call.param('prior'));
    const implied = role(call, call.param('implied'));
    if (!call.cloud.directory.state.implied.get(prior.id)?.includes(implied.id))
      throw notFound(`${prior.id} does not imply ${implied.id}.`);
    return { prior, implied };
  }

  const one = (call: Call, prior: Named, implied: Named) => ({
    role_inference: { prior_role: brief(call, prior), implies: brief(call, implied) },
    links: links(call),
  });

  return [
    get('/v3/role_inferences', (call) => {
      call.requireAdmin();
      const all = [...call.cloud.directory.state.implied].filter(([, implied]) => implied.length > 0);
      return { role_inferences: all.map(([prior]) => inference(call, prior)), links: links(call) };
    }),
    get('/v3/roles/:prior/implies', (call) => ({
      role_inference: inference(call, call.param('prior')),
      links: links(call),
    })),
    head('/v3/roles/:prior/implies/:implied', (call) => {
      pair(call);
      return noContent();
    }),
    get('/v3/roles/:prior/implies/:implied', (call) => {
      const { prior, implied } = pair(call);
      return one(call, prior, implied);
    }),
    put('/v3/roles/:prior/implies/:implied', (call) => {
      const prior = role(call, call.param('prior'));
      const implied = role(call, call.param('implied'));
      if (implied.name === 'admin') throw forbidden(`${implied.id} cannot be an implied roles.`);
      if (!prior.domain_id && implied.domain_id) throw forbidden('Global role cannot imply a domain-specific role');
      const table = call.cloud.directory.state.implied;
      table.set(prior.id, [...new Set([...(table.get(prior.id) ?? []), implied.id])]);
      return created(one(call, prior, implied));
    }),
    del('/v3/roles/:prior/implies/:implied', (call) => {
      const { prior, implied } = pair(call);
      const table = call.cloud.directory.state.implied;
      table.set(
        prior.id,
        (table.get(prior.id) ?? []).filter((id) => id !== implied.id),
      );
      return noContent();
    }),
  ];
}
