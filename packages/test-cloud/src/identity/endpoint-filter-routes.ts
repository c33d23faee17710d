import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { del, get, noContent, put, type Route } from '../service/route.js';
import { notFound } from '../service/service-error.js';
import { authorize } from './authorize.js';
import { endpointAssociations, endpointsOfProject, showEndpoint } from './catalog.js';
import { listOf } from './identity-style.js';
import type { Action } from './policies.js';

/** Returns the routes that associate endpoints with a project, whose catalog then contains only these endpoints. */
export function endpointFilterRoutes(): readonly Route[] {
  const associations = ({ cloud }: Call) => endpointAssociations(cloud.documents);
  const endpoints = ({ cloud }: Call) => cloud.documents.table<Doc>('identity/endpoints');

  function requestedPair(call: Call, action: Action) {
    authorize(call, action);
    const [project, endpoint] = [call.param('project'), call.param('endpoint')];
    if (!call.cloud.directory.state.projects.has(project)) throw notFound(`Could not find project: ${project}.`);
    if (!endpoints(call).has(endpoint)) throw notFound(`Could not find endpoint: ${endpoint}.`);
    return { key: `${project}/${endpoint}`, pair: { project, endpoint } };
  }

  const associationPath = '/v3/OS-EP-FILTER/projects/:project/endpoints/:endpoint';
  return [
    put(associationPath, (call) => {
      const { key, pair } = requestedPair(call, 'add_endpoint_to_project');
      associations(call).set(key, pair);
      return noContent();
    }),
    get(associationPath, (call) => {
      const { key } = requestedPair(call, 'check_endpoint_in_project');
      if (!associations(call).has(key)) throw notFound('Could not find endpoint association.');
      return noContent();
    }),
    del(associationPath, (call) => {
      const { key } = requestedPair(call, 'remove_endpoint_from_project');
      if (!associations(call).delete(key)) throw notFound('Could not find endpoint association.');
      return noContent();
    }),
    get('/v3/OS-EP-FILTER/projects/:project/endpoints', (call) => {
      authorize(call, 'list_endpoints_for_project');
      const project = call.param('project');
      if (!call.cloud.directory.state.projects.has(project)) throw notFound(`Could not find project: ${project}.`);
      return listOf(
        'endpoints',
        call,
        endpointsOfProject(call.cloud.documents, project).map((associationPath) =>
          showEndpoint(associationPath, call.cloudBase),
        ),
      );
    }),
    get('/v3/OS-EP-FILTER/endpoints/:endpoint/projects', (call) => {
      authorize(call, 'list_projects_for_endpoint');
      const matching = [...associations(call).values()].filter(({ endpoint }) => endpoint === call.param('endpoint'));
      const projects = matching.flatMap(({ project }) => call.cloud.directory.state.projects.get(project) ?? []);
      return listOf('projects', call, projects);
    }),
  ];
}
