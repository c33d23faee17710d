import { type IncomingMessage, STATUS_CODES } from 'node:http';
import { accepts } from '../accept.js';
import type { ErrorBody } from './error-body.js';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/**
 * Formats an error according to the `Accept` header: as HTML if the client accepts HTML; otherwise, if it accepts JSON,
 * as a JSON object with `message`, `code` (`400 Bad Request`) and `title`. Without the header and in all other cases,
 * the body is plain text.
 */
export function genericError(
  error: { readonly status: number; readonly message: string },
  req: IncomingMessage,
): ErrorBody {
  const title = STATUS_CODES[error.status] ?? 'Error';
  const code = `${error.status} ${title}`;
  const { accept } = req.headers;
  if (accept?.trim() && accepts(accept, 'text/html')) {
    const heading = escapeHtml(code);
    return {
      contentType: 'text/html; charset=UTF-8',
      body: `<html>\n<head><title>${heading}</title></head>\n<body>\n<h1>${heading}</h1>\n<p>${escapeHtml(error.message)}</p>\n</body>\n</html>`,
    };
  }
  if (accept?.trim() && accepts(accept, 'application/json')) {
    return {
      contentType: 'application/json; charset=UTF-8',
      body: JSON.stringify({ message: error.message, code, title }),
    };
  }
  return { contentType: 'text/plain; charset=UTF-8', body: `${code}\n\n${error.message}\n` };
}
