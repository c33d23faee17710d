import type { ApiDescription } from './api-description.js';

/** The schema of problem details (RFC 9457), the default error format, for the `fault` option of `openApi()`. */
export const problemDocument: NonNullable<ApiDescription['fault']> = {
  contentType: 'application/problem+json',
  schema: {
    type: 'object',
    properties: {
      type: { type: 'string', format: 'uri-reference', description: 'URI that identifies the problem type.' },
      title: { type: 'string', description: 'Short, human-readable summary of the problem type.' },
      status: { type: 'integer', description: 'HTTP status code of the response.' },
      detail: { type: 'string', description: 'Human-readable explanation of this occurrence of the problem.' },
      code: { type: 'string', description: 'Error code, for programs.' },
    },
    required: ['title', 'status', 'detail'],
    additionalProperties: true,
  },
};
