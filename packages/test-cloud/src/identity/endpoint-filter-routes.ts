import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { del, get, noContent, put, type Route } from '../service/route.js';
import { notFound } from '../service/service-error.js';
import { showEndpoint } from './catalog.js';
import { listOf } from './identity-style.js';

/** Associations of endpoints with projects. They do not filter catalogs. */
export function endpointFilterRoutes(): readonly Route[] {
  const pairs = ({ cloud }: Call) =>
    cloud.documents.table<{ project: string; endpoint: string }>('identity/endpoint-filter');
  const endpoints = ({ cloud }: Call) => cloud.documents.table<Doc>('identity/endpoints');

  function pairOf(call: Call) {
    call.requireAdmin();
    const [project, endpoint] = [call.param('project'), call.param('endpoint')];
    if (!call.cloud.directory.state.projects.has(project)) throw notFound(`Could not find project: ${project}.`);
    if (!endpoints(call).has(endpoint)) throw notFound(`Could not find endpoint: ${endpoint}.`);
    return { key: `${project}/${endpoint}`, pair: { project, endpoint } };
  }

  const one = '/v3/OS-EP-FILTER/projects/:project/endpoints/:endpoint';
  return [
    put(one, (call) => {
      const { key, pair } = pairOf(call);
      pairs(call).set(key, pair);
      return noContent();
    }),
    get(one, (call) => {
      if (!pairs(call).has(pairOf(call).key)) throw notFound('Could not find endpoint association.');
      return noContent();
    }),
    del(one, (call) => {
      if (!pairs(call).delete(pairOf(call).key)) throw notFound('Could not find endpoint association.');
      return noContent();
    }),
    get('/v3/OS-EP-FILTER/projects/:project/endpoints', (call) => {
      call.requireAdmin();
      const matching = [...pairs(call).values()].filter(({ project }) => project === call.param('project'));
      const endpointsOfProject = matching.flatMap(({ endpoint }) => endpoints(call).get(endpoint) ?? []);
      return listOf(
        'endpoints',
        call,
        endpointsOfProject.map((one) => showEndpoint(one, call.cloudBase)),
      );
    }),
    get('/v3/OS-EP-FILTER/endpoints/:endpoint/projects', (call) => {
      call.requireAdmin();
      const matching = [...pairs(call).values()].filter(({ endpoint }) => endpoint === call.param('endpoint'));
      const projects = matching.flatMap(({ project }) => call.cloud.directory.state.projects.get(project) ?? []);
      return listOf('projects', call, projects);
    }),
  ];
}
