import { type ApiDescription, type Example, nameOf } from '@apistrata/microversion-router';
import { recordedExamples } from './recorded-examples.js';
import { tagDescriptions } from './tags.js';

/** The body of an error response. Its only key is the fault type. */
const faultSchema = {
  type: 'object',
  description: 'A fault. Its only key is the fault type, such as `badRequest`.',
  minProperties: 1,
  maxProperties: 1,
  additionalProperties: {
    type: 'object',
    properties: {
      code: { type: 'integer', description: 'HTTP status code of the response.' },
      message: { type: 'string', description: 'Error message.' },
      retryAfter: { type: 'string', description: 'Number of seconds to wait before the next attempt.' },
    },
    required: ['code', 'message'],
  },
} as const;

/** Descriptions of errors by HTTP status, for operations that do not define their own. */
const errors = {
  400: 'The request body, the query string or the version header is malformed, or is not supported at this version.',
  401: 'The token is missing, invalid or expired.',
  403: 'The policy does not allow the operation, or a quota is exceeded.',
  404: 'The resource does not exist or is not visible to the caller, or the operation does not exist at this version.',
  409: 'The state of the resource does not allow the operation, or another request changed the resource concurrently.',
  410: 'The operation was removed permanently.',
  413: 'The request body is too large, or the request exceeds a limit.',
  415: 'The request body is not JSON.',
  429: 'The caller exceeded a rate limit.',
  500: 'An unexpected error occurred.',
  501: 'The driver does not support the operation.',
  503: 'The database, the identity service or another required service is unavailable. Retry the request later.',
} as const;

let examples: Readonly<Record<string, readonly Example[]>> | undefined;

/** The parts of the compute API's OpenAPI documents that do not depend on operations. */
export const computeApiDescription: Omit<ApiDescription, 'serverUrl'> = {
  title: 'Compute API',
  description:
    'Manages servers and related resources: flavors, key pairs, volume attachments, interfaces, server groups, hosts and ' +
    'quotas. Each operation, field, parameter and status exists in a range of microversions. A request header selects the version. Without the header, the version is 2.1.',
  versionHeaders: [
    { name: 'OpenStack-API-Version', value: (version) => `compute ${version}` },
    { name: 'X-OpenStack-Nova-API-Version', value: (version) => version },
  ],
  responseHeaders: { 'X-Compute-Request-ID': 'ID of the request. Include it when you contact support.' },
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
