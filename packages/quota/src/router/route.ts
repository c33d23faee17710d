/** The resource that a path identifies. */
export type Route =
  | { readonly name: 'quotas' }
  | { readonly name: 'list' }
  | { readonly name: 'project'; readonly project: string }
  /** An unknown path below one of the API's paths. */
  | { readonly name: 'unknown' }
  /** A path that does not belong to the API. */
  | { readonly name: 'other' };

/** The methods that each resource allows, in their order in the `Allow` header. */
export const METHODS_BY_ROUTE: Readonly<Record<Route['name'], readonly string[]>> = {
  quotas: ['GET'],
  list: ['GET'],
  project: ['DELETE', 'GET', 'PUT'],
  unknown: [],
  other: [],
};

/** Matches everything in a request target except the path: the scheme and host of an absolute URL, and the query string. */
const NON_PATH_PARTS = /^https?:\/\/[^/?#]*|\?.*$/gi;

/**
 * Returns the route for a request target. Trailing and repeated slashes are ignored. The project id is percent-decoded and
 * otherwise unchanged.
 */
export function routeOf(target: string): Route {
  const [version, resource, project, ...extraSegments] = target.replace(NON_PATH_PARTS, '').split('/').filter(Boolean);
  if (version !== 'v1' || (resource !== 'quotas' && resource !== 'project-quotas')) return { name: 'other' };
  if (resource === 'quotas') return { name: project === undefined ? 'quotas' : 'unknown' };
  if (project === undefined) return { name: 'list' };
  if (extraSegments.length > 0) return { name: 'unknown' };
  try {
    return { name: 'project', project: decodeURIComponent(project) };
  } catch {
    // A path with malformed percent-encoding does not identify a project.
    return { name: 'unknown' };
  }
}
