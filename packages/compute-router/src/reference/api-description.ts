import { type ApiDescription, type Example, nameOf } from '@apistrata/microversion/router';
import { recordedExamples } from './recorded-examples.js';
import { tagDescriptions } from './tags.js';

/** The body of an error, with the fault type as its only key. */
const faultSchema = {
  type: 'object',
  description: 'A fault. The only key is the type of the fault.',
  minProperties: 1,
  maxProperties: 1,
  additionalProperties: {
    type: 'object',
    properties: {
      code: { type: 'integer', description: 'HTTP status code of the response.' },
      message: { type: 'string', description: 'Error message.' },
      retryAfter: { type: 'string', description: 'Seconds to wait before a retry.' },
    },
    required: ['code', 'message'],
  },
} as const;

/** General causes of errors, by status. */
const errors = {
  400: 'The request body, the query string or the version header is malformed or not supported by this version.',
  401: 'The token is missing, unknown or expired.',
  403: 'The policy does not allow the operation, or a quota is exceeded.',
  404: 'The resource does not exist or is not visible to the caller, or this version does not have the operation.',
  409: 'The state of the resource does not allow the operation, or another request changed the resource concurrently.',
  410: 'The operation was removed permanently.',
  413: 'The request body is too large, or a limit is exceeded.',
  415: 'The request body is not JSON.',
  429: 'A rate limit is exceeded.',
  500: 'An unexpected error occurred.',
  501: 'The driver does not support the operation.',
  503: 'The database, the identity service or another required service is unavailable. Retry later.',
} as const;

let examples: Readonly<Record<string, readonly Example[]>> | undefined;

/** The description of the compute API for OpenAPI documents, in addition to its operations. */
export const computeApiDescription: Omit<ApiDescription, 'serverUrl'> = {
  title: 'Compute API',
  description:
    'Manages servers and related resources: flavors, key pairs, volume attachments, interfaces, server groups, hosts and ' +
    'quotas. Every operation, field, parameter and status exists in a window of versions; a header of the request selects the version.',
  versionHeaders: [
    { name: 'OpenStack-API-Version', value: (version) => `compute ${version}` },
    { name: 'X-OpenStack-Nova-API-Version', value: (version) => version },
  ],
  responseHeaders: { 'X-Compute-Request-ID': 'ID of the request. Include it in support requests.' },
  securitySchemes: {
    token: {
      type: 'apiKey',
      in: 'header',
      name: 'X-Auth-Token',
      description: 'A token issued by the identity service.',
    },
  },
  fault: { schema: faultSchema },
  errors,
  tags: tagDescriptions,
  exampleOf: (operation) => {
    examples ??= recordedExamples();
    return examples[nameOf(operation)];
  },
};
