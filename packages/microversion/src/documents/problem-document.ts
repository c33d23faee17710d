import type { ApiDescription } from './api-description.js';

/** Describes problem details (RFC 9457), the default form of errors, for the option `fault` of `openApi()`. */
export const problemDocument: NonNullable<ApiDescription['fault']> = {
  contentType: 'application/problem+json',
  schema: {
    type: 'object',
    properties: {
      type: { type: 'string', format: 'uri-reference', description: 'Identifies the kind of error.' },
      title: { type: 'string', description: 'The kind of error, for people.' },
      status: { type: 'integer', description: 'The status of the response.' },
      detail: { type: 'string', description: 'What is wrong with this request.' },
      code: { type: 'string', description: 'The kind of error, for programs.' },
    },
    required: ['title', 'status', 'detail'],
    additionalProperties: true,
  },
};
