import { createHmac } from 'node:crypto';
import type { Call } from '../service/call.js';
import { badRequest } from '../service/service-error.js';
import { equalInConstantTime } from './equal-in-constant-time.js';

/** The parts of an HTTP request that are needed to verify its OAuth signature. */
export interface SignedRequest {
  readonly method: string;
  /** The URL that the client requested. */
  readonly url: URL;
  readonly authorization: string | undefined;
}

/** Returns the parts of an HTTP request that are needed to verify its OAuth signature. */
export function signedRequestOf(call: Call): SignedRequest {
  const url = new URL(`${call.cloudBase}${call.req.originalUrl}`);
  return { method: call.req.method, url, authorization: call.req.headers.authorization };
}

/** The OAuth protocol parameters of RFC 5849, such as `oauth_token`, by name. */
export type OAuthParameters = Readonly<Record<string, string | undefined>>;

/** The hash function of each signature method; null if the signature is the key itself. */
const HASHES_BY_METHOD: Readonly<Record<string, string | null>> = {
  'HMAC-SHA1': 'sha1',
  'HMAC-SHA256': 'sha256',
  'HMAC-SHA512': 'sha512',
  PLAINTEXT: null,
};
/** The maximum difference between the consumer's clock and the clock of this service, in seconds. */
const CLOCK_DIFFERENCE_S = 600;

const percentEncode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

function percentDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw badRequest('Malformed Authorization header.');
  }
}

/**
 * Parses the header `Authorization: OAuth name="value", ...`.
 *
 * @throws a 400 error if the header is missing
 */
export function parseOAuthParameters({ authorization }: SignedRequest): OAuthParameters {
  if (!/^oauth\s/i.test(authorization ?? ''))
    throw badRequest('No Authorization headers found, cannot proceed with OAuth related calls.');
  const pairs = [...(authorization ?? '').matchAll(/([\w.~%-]+)="([^"]*)"/g)];
  return Object.fromEntries(pairs.map(([, name = '', value = '']) => [percentDecode(name), percentDecode(value)]));
}

/** Returns the signature base string of RFC 5849, section 3.4.1. */
function signatureBaseString({ method, url }: SignedRequest, parameters: OAuthParameters): string {
  const signedParameters = Object.entries(parameters).filter(
    ([name]) => name !== 'realm' && name !== 'oauth_signature',
  );
  const normalizedParameters = [...url.searchParams, ...signedParameters]
    .map(([name, value = '']) => `${percentEncode(name)}=${percentEncode(value)}`)
    .sort((a, b) => (a < b ? -1 : 1))
    .join('&');
  return [method.toUpperCase(), `${url.origin}${url.pathname}`, normalizedParameters].map(percentEncode).join('&');
}

/**
 * Returns whether a request is signed with a consumer's secret and token secret (RFC 5849, section 3.2).
 *
 * @throws a 400 error if the signature method is unknown, or the timestamp differs too much from the current time
 */
export function hasValidSignature(request: SignedRequest, consumerSecret: string, tokenSecret = ''): boolean {
  const parameters = parseOAuthParameters(request);
  const {
    oauth_signature_method: method = '',
    oauth_timestamp: timestamp,
    oauth_signature: signature = '',
  } = parameters;
  if (!Object.hasOwn(HASHES_BY_METHOD, method))
    throw badRequest(`Validation failed with errors: invalid_request, detail message is: Invalid signature method.`);
  const hash = HASHES_BY_METHOD[method];
  const key = `${percentEncode(consumerSecret)}&${percentEncode(tokenSecret)}`;
  // Clients sign with the real time, even if the clock of this cloud has been advanced or frozen.
  if (hash && !(Math.abs(Number(timestamp) - Date.now() / 1000) <= CLOCK_DIFFERENCE_S))
    throw badRequest(
      `Validation failed with errors: invalid_request, detail message is: Timestamp given is invalid, differ from allowed by over ${CLOCK_DIFFERENCE_S} seconds.`,
    );
  const expectedSignature = hash
    ? createHmac(hash, key).update(signatureBaseString(request, parameters)).digest('base64')
    : key;
  return equalInConstantTime(expectedSignature, signature);
}
