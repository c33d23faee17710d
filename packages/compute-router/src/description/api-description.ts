import { type ApiDescription, type Example, nameOf } from '@apistrata/microversion/router';
import { recordedExamples } from './recorded-examples.js';
import { tagDescriptions } from './resources.js';

/** The body of an error: its kind as the only key. */
const faultSchema = {
  type: 'object',
  description: 'A fault: its kind is the only key',
  minProperties: 1,
  maxProperties: 1,
  additionalProperties: {
    type: 'object',
    properties: {
      code: { type: 'integer', description: 'The status of the answer' },
      message: { type: 'string', description: 'What went wrong, for people' },
      retryAfter: { type: 'string', description: 'Seconds to wait before another try' },
    },
    required: ['code', 'message'],
  },
} as const;

/** When an error of a status comes, whatever the operation. */
const errors = {
  400: 'The request is malformed: a body, query or version header that this version does not take',
  401: 'The token is missing, unknown or expired',
  403: 'The policy does not allow it, or a quota is used up',
  404: 'What is named does not exist, is not visible to the caller, or this version does not have it',
  409: 'What is named is in a state that does not allow it, or somebody else changed it meanwhile',
  410: 'Removed for good',
  413: 'The body is too large, or a limit is exceeded',
  415: 'The body is not JSON',
  429: 'A rate limit is exceeded',
  500: 'An unexpected failure',
  501: 'The machines behind this API cannot do it',
  503: 'The database, the identity service or a service behind this API is away; try again',
} as const;

let examples: Readonly<Record<string, readonly Example[]>> | undefined;

/** What documents of the compute API say beside its operations. */
export const computeApiDescription: Omit<ApiDescription, 'serverUrl'> = {
  title: 'Compute API',
  description:
    'Servers, and all they need: flavors, key pairs, volumes, interfaces, groups, hosts and quotas. Every operation, ' +
    'field, parameter and status has the versions in which it exists; a request asks for one in a header.',
  versionHeaders: [
    { name: 'OpenStack-API-Version', value: (version) => `compute ${version}` },
    { name: 'X-OpenStack-Nova-API-Version', value: (version) => version },
  ],
  answerHeaders: { 'X-Compute-Request-ID': 'Id of the request, to be named in questions about it' },
  securitySchemes: {
    token: { type: 'apiKey', in: 'header', name: 'X-Auth-Token', description: 'A token of the identity service' },
  },
  fault: { schema: faultSchema },
  errors,
  tags: tagDescriptions,
  exampleOf: (operation) => {
    examples ??= recordedExamples();
    return examples[nameOf(operation)];
  },
};
