/** What a path means to this API. */
export type Route =
  | { readonly name: 'quotas' }
  | { readonly name: 'list' }
  | { readonly name: 'project'; readonly project: string }
  /** Below a path of ours, but nothing. */
  | { readonly name: 'unknown' }
  /** Not ours. */
  | { readonly name: 'other' };

/** Methods of each, in the order of `Allow`. */
export const METHODS: Readonly<Record<Route['name'], readonly string[]>> = {
  quotas: ['GET'],
  list: ['GET'],
  project: ['DELETE', 'GET', 'PUT'],
  unknown: [],
  other: [],
};

/** Scheme and host of an absolute-form target, as proxies are asked; the query. */
const AROUND_PATH = /^https?:\/\/[^/?#]*|\?.*$/gi;

/**
 * What the target of a request means. A slash at the end and doubled slashes do not matter. The id of a project is decoded
 * and otherwise as it is.
 */
export function routeOf(target: string): Route {
  const [version, resource, project, ...more] = target.replace(AROUND_PATH, '').split('/').filter(Boolean);
  if (version !== 'v1' || (resource !== 'quotas' && resource !== 'project-quotas')) return { name: 'other' };
  if (resource === 'quotas') return { name: project === undefined ? 'quotas' : 'unknown' };
  if (project === undefined) return { name: 'list' };
  if (more.length > 0) return { name: 'unknown' };
  try {
    return { name: 'project', project: decodeURIComponent(project) };
  } catch {
    // Bytes that are no text name no project.
    return { name: 'unknown' };
  }
}
