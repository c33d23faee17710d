import type { ApiDescription } from './api-description.js';

/** The schema of problem details (RFC 9457), the default format of errors, for the `fault` option of `openApi()`. */
export const problemDocument: NonNullable<ApiDescription['fault']> = {
  contentType: 'application/problem+json',
  schema: {
    type: 'object',
    properties: {
      type: { type: 'string', format: 'uri-reference', description: 'URI of the kind of error.' },
      title: { type: 'string', description: 'Summary of the kind of error, for people.' },
      status: { type: 'integer', description: 'Status of the response.' },
      detail: { type: 'string', description: 'Explanation of this error, for people.' },
      code: { type: 'string', description: 'Code of the kind of error, for programs.' },
    },
    required: ['title', 'status', 'detail'],
    additionalProperties: true,
  },
};
