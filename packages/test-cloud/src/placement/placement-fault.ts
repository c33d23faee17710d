import { STATUS_CODES } from 'node:http';
import { requestIdOf } from '@apistrata/request-id';
import type { Request } from 'express';
import { errorPage, escapedHtml } from '../service/error-page.js';
import type { ParserError } from '../service/fake-service.js';
import { ServiceError } from '../service/service-error.js';
import { TextBody } from '../service/text-body.js';
import { isRequestAtLeast, MAX_VERSION, MIN_VERSION } from './placement-version.js';

/** The text with which WebOb, the library that Placement uses, starts the detail of an error, by status. */
const EXPLANATIONS: Readonly<Record<number, (req: Request) => string>> = {
  400: () => 'The server could not comply with the request since it is either malformed or otherwise incorrect.',
  403: () => 'Access was denied to this resource.',
  404: () => 'The resource could not be found.',
  405: ({ method }) => `The method ${method} is not allowed for this resource. `,
  406: ({ headers }) =>
    `The resource could not be generated that was acceptable to your browser (content of type ${headers.accept ?? ''}). `,
  409: () => 'There was a conflict when trying to complete your request.',
  415: ({ headers }) => `The request media type ${headers['content-type'] ?? 'None'} is not supported by this server.`,
};

const UNACCEPTABLE = 'UNACCEPTABLE_VERSION';

/** The error message for an unknown path. The detail of this error contains only the explanation. */
export const NOT_FOUND_MESSAGE = 'The resource could not be found.';

/** Converts an error of the microversion parser or the body parser. */
export function fromParserError({ status, message, type, code }: ParserError): ServiceError {
  if (type === 'entity.parse.failed') return new ServiceError(400, `Malformed JSON: ${message}`);
  if (code === 'INVALID_VERSION_HEADER')
    return new ServiceError(400, `Invalid microversion: invalid version string: ${message.split(': ').at(-1)}`);
  return new ServiceError(status, message, code);
}

/** Formats an error as JSON, or as HTML or plain text for clients that do not accept JSON. */
export function formatPlacementFault({ status, message, type }: ServiceError, req: Request): unknown {
  const title = STATUS_CODES[status] ?? 'Error';
  const explanation = EXPLANATIONS[status]?.(req) ?? title;
  // WebOb removes the line breaks from the message, and adds line breaks between the parts.
  const ownMessage = status === 404 && message === NOT_FOUND_MESSAGE ? '' : message.replaceAll('\n', ' ');
  const detail = `${explanation}\n\n ${ownMessage}  `;
  if (!req.accepts('json')) {
    const statusLine = `${status} ${title}`;
    if (!req.accepts('html')) return new TextBody('text/plain', `${statusLine}\n\n${detail}`);
    return errorPage(statusLine, escapedHtml(detail).replaceAll('\n\n', '<br /><br />\n'));
  }
  const code = type.startsWith('placement.') ? type : 'placement.undefined_code';
  return {
    errors: [
      {
        status,
        title,
        detail,
        ...(isRequestAtLeast(req, 23) && { code }),
        request_id: requestIdOf(req)?.local,
        ...(type === UNACCEPTABLE && { max_version: MAX_VERSION, min_version: MIN_VERSION }),
      },
    ],
  };
}
