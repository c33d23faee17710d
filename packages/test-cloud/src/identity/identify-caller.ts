import type { IncomingMessage } from 'node:http';
import type { Caller } from '@apistrata/compute-engine';
import { isAllowedByAccessRules } from '@apistrata/compute-engine/catalogs';
import type { IdentifyCaller } from '../service/cloud-context.js';
import type { Directory } from './directory.js';

/** Returns the caller whom a token identifies; undefined if the token is not valid. */
function callerOf(directory: Directory, tokenId: unknown): Caller | undefined {
  const token = typeof tokenId === 'string' ? directory.token(tokenId) : undefined;
  if (!token) return undefined;
  const { state } = directory;
  const user = state.users.get(token.userId);
  const project = token.scope?.kind === 'project' ? state.projects.get(token.scope.id) : undefined;
  const credential = token.applicationCredentialId ? state.credentials.get(token.applicationCredentialId) : undefined;
  const roles = token.roleIds.flatMap((id) => state.roles.get(id)?.name ?? []);
  return {
    userId: token.userId,
    userName: user?.name,
    userDomainId: user?.domain_id,
    projectId: project?.id ?? '',
    projectName: project?.name,
    projectDomainId: project?.domain_id,
    systemScope: token.scope?.kind === 'system',
    roles,
    // The cloud's other services use `isAdmin`; the compute API evaluates its own policies.
    isAdmin: roles.includes('admin'),
    token: token.id,
    ...(credential?.accessRules && { accessRules: credential.accessRules }),
  };
}

const pathOf = (url: string | undefined) => (url ?? '').split('?', 1)[0] ?? '';

/** Returns whether a request validates a token. Access rules never prohibit such a request. */
const isValidation = ({ method, url }: IncomingMessage) => method === 'GET' && pathOf(url).endsWith('/v3/auth/tokens');

/**
 * Returns a function that identifies the caller by `X-Auth-Token` and, for requests that a service forwards,
 * `X-Service-Token`.
 */
export function identifyCaller(directory: Directory): IdentifyCaller {
  return function identityOf(req: IncomingMessage & { readonly originalUrl?: string }, serviceTypes) {
    const user = callerOf(directory, req.headers['x-auth-token']);
    const serviceToken = req.headers['x-service-token'];
    const service = serviceToken === undefined ? undefined : callerOf(directory, serviceToken);
    if (!user || (serviceToken !== undefined && !service)) return undefined;
    const caller = service ? { ...user, serviceRoles: service.roles } : user;
    if (!caller.accessRules || (serviceTypes.includes('identity') && isValidation(req))) return caller;
    const paths = [pathOf(req.originalUrl), pathOf(req.url)];
    return isAllowedByAccessRules(caller, serviceTypes, req.method, paths) ? caller : undefined;
  };
}
