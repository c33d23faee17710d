import { STATUS_CODES } from 'node:http';
import type { Request } from 'express';
import { errorPage, escapedHtml } from '../service/error-page.js';
import type { ServiceError } from '../service/service-error.js';
import { TextBody } from '../service/text-body.js';

/** Returns the quality that an `Accept` header assigns to a media type; 0 if the client does not accept the type. */
function qualityOf(accept: string, type: string): number {
  const [main] = type.split('/');
  let best = { specificity: -1, q: 0 };
  for (const range of accept.split(',')) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const specificity = name === type ? 2 : name === `${main}/*` ? 1 : name === '*/*' || name === '' ? 0 : -1;
    const value = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    const q = value === undefined ? 1 : Number(value) || 0;
    if (specificity > best.specificity) best = { specificity, q };
  }
  return best.q;
}

/** Formats an error as JSON if the client prefers JSON to HTML, as plain text if it rejects HTML, and otherwise as HTML. */
export function formatImageFault({ status, message }: ServiceError, req: Request): unknown {
  const title = STATUS_CODES[status] ?? 'Unknown';
  const code = `${status} ${title}`;
  const accept = req.header('accept') ?? '*/*';
  const html = qualityOf(accept, 'text/html');
  const json = qualityOf(accept, 'application/json');
  const tail = '<br /><br />\n\n\n';
  if (json > html) return { message: `${message}${tail}`, code, title };
  if (html === 0) return new TextBody('text/plain', `${code}\n\n${message}\n\n   `);
  return errorPage(code, `${escapedHtml(message)}${tail}`);
}
