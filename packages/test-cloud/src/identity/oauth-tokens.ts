import { randomInt } from 'node:crypto';
import { badRequest, notFound, ServiceError } from '../service/service-error.js';
import { formatMicrosUtc } from '../service/times.js';
import type { Directory } from './directory.js';
import type { AccessToken, Consumer, RequestToken } from './identity-records.js';
import { newId } from './new-id.js';
import {
  hasValidSignature,
  type OAuthParameters,
  parseOAuthParameters,
  type SignedRequest,
} from './oauth-signature.js';

const REQUEST_TOKEN_LIFETIME_MS = 8 * 3_600_000;
const ACCESS_TOKEN_LIFETIME_MS = 24 * 3_600_000;
const VERIFIER_LENGTH = 8;
/** Letters and digits, except those that look alike, such as `0` and `O`. */
const VERIFIER_CHARACTERS = 'abcdefghkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';

export const unauthorized = (message: string) => new ServiceError(401, message, 'Unauthorized');

/** Returns the value of a request parameter. @throws a 400 error if the parameter is missing */
export function requireParameter(value: string | undefined, name: string): string {
  if (value) return value;
  throw badRequest(
    `Expecting to find ${name} in request. The server could not comply with the request since it is either malformed or otherwise incorrect. The client is assumed to be in error.`,
  );
}

/** Returns the response body for a new OAuth token. */
export function tokenBody({ id, secret, expiresAt }: Pick<AccessToken, 'id' | 'secret' | 'expiresAt'>): string {
  return `oauth_token=${id}&oauth_token_secret=${secret}&oauth_expires_at=${formatMicrosUtc(expiresAt)}`;
}

function findConsumer(directory: Directory, parameters: OAuthParameters): Consumer {
  const id = requireParameter(parameters.oauth_consumer_key, 'oauth_consumer_key');
  const consumer = directory.state.consumers.get(id);
  if (!consumer) throw notFound('Consumer not found');
  return consumer;
}

/** Removes expired tokens from a table, so that the table does not grow without bound. */
function removeExpiredTokens(table: Map<string, { readonly expiresAt: number }>, now: number): void {
  for (const [key, { expiresAt }] of table) if (expiresAt <= now) table.delete(key);
}

/** Verifies a consumer's signed request and creates a request token. */
export function createRequestToken(
  directory: Directory,
  request: SignedRequest,
  requestedProjectId: string | undefined,
): RequestToken {
  const parameters = parseOAuthParameters(request);
  requireParameter(parameters.oauth_consumer_key, 'oauth_consumer_key');
  const projectId = requireParameter(requestedProjectId, 'Requested-Project-Id');
  if (!directory.state.projects.has(projectId)) throw notFound(`Could not find project: ${projectId}.`);
  const consumer = findConsumer(directory, parameters);
  if (!hasValidSignature(request, consumer.secret)) throw unauthorized('Invalid signature');
  const now = directory.now();
  const table = directory.state.requestTokens;
  removeExpiredTokens(table, now);
  const token = {
    id: newId(),
    secret: newId(),
    consumerId: consumer.id,
    projectId,
    expiresAt: now + REQUEST_TOKEN_LIFETIME_MS,
  };
  table.set(token.id, token);
  return token;
}

/** Returns a request token by its ID. @throws a 404 error if the token is unknown, 401 if it has expired */
export function findRequestToken(directory: Directory, id: string): RequestToken {
  const token = directory.state.requestTokens.get(id);
  if (!token) throw notFound('Request token not found');
  if (token.expiresAt <= directory.now()) throw unauthorized('Request token is expired');
  return token;
}

/** Stores a user's delegated roles in the request token and returns the verifier. */
export function authorizeToken(
  directory: Directory,
  token: RequestToken,
  userId: string,
  roleIds: readonly string[],
): string {
  const characters = Array.from(
    { length: VERIFIER_LENGTH },
    () => VERIFIER_CHARACTERS[randomInt(VERIFIER_CHARACTERS.length)],
  );
  const verifier = characters.join('');
  directory.state.requestTokens.set(token.id, { ...token, authorized: { userId, roleIds, verifier } });
  return verifier;
}

/** Exchanges an authorized request token for an access token. Each request token can be used once. */
export function createAccessToken(directory: Directory, request: SignedRequest): AccessToken {
  const parameters = parseOAuthParameters(request);
  requireParameter(parameters.oauth_consumer_key, 'oauth_consumer_key');
  const requestTokenId = requireParameter(parameters.oauth_token, 'oauth_token');
  const verifier = requireParameter(parameters.oauth_verifier, 'oauth_verifier');
  const now = directory.now();
  const token = findRequestToken(directory, requestTokenId);
  const consumer = directory.state.consumers.get(parameters.oauth_consumer_key ?? '');
  if (!consumer) throw unauthorized('Provided consumer does not exist.');
  if (token.consumerId !== consumer.id) throw unauthorized('Provided consumer key does not match stored consumer key.');
  if (token.authorized?.verifier !== verifier) throw unauthorized('Provided verifier does not match stored verifier');
  if (!hasValidSignature(request, consumer.secret, token.secret)) throw unauthorized('Invalid signature');
  const { accessTokens } = directory.state;
  removeExpiredTokens(accessTokens, now);
  const { userId, roleIds } = token.authorized;
  const { projectId, consumerId } = token;
  const expiresAt = now + ACCESS_TOKEN_LIFETIME_MS;
  const accessToken = { id: newId(), secret: newId(), consumerId, userId, projectId, roleIds, expiresAt };
  accessTokens.set(accessToken.id, accessToken);
  directory.state.requestTokens.delete(token.id);
  return accessToken;
}

/**
 * Returns the access token that a signed authentication request names.
 *
 * @throws a 401 error if the token is expired or the signature is wrong; 404 if the token does not exist
 */
export function verifyAccessToken(directory: Directory, request: SignedRequest): AccessToken {
  const token = directory.state.accessTokens.get(
    requireParameter(parseOAuthParameters(request).oauth_token, 'oauth_token'),
  );
  if (!token) throw notFound('Access token not found');
  if (token.expiresAt <= directory.now()) throw unauthorized('Access token is expired');
  const consumer = directory.state.consumers.get(token.consumerId);
  if (
    !consumer ||
    parseOAuthParameters(request).oauth_consumer_key !== consumer.id ||
    !hasValidSignature(request, consumer.secret, token.secret)
  )
    throw unauthorized('Could not validate the access token');
  return token;
}
