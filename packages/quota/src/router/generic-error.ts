import { type IncomingMessage, STATUS_CODES } from 'node:http';

/** A body and its Content-Type. */
export interface Content {
  readonly type: string;
  readonly body: string;
}

/** The plain form of errors that come before the service proper. */
export function plainError(status: number, message: string): Content {
  return { type: 'text/plain; charset=UTF-8', body: `${status} ${STATUS_CODES[status]}\n\n${message}\n` };
}

/** The form the client prefers: plain text without `Accept`, HTML for html or anything, an object for JSON. */
export function genericError(req: IncomingMessage, status: number, message: string): Content {
  const accept = req.headers.accept?.toLowerCase() ?? '';
  const code = `${status} ${STATUS_CODES[status]}`;
  if (/\*\/\*|text\/html/.test(accept)) {
    const body = `<html>\n<head><title>${code}</title></head>\n<body>\n<h1>${code}</h1>\n<p>${escapeHtml(message)}</p>\n</body>\n</html>`;
    return { type: 'text/html; charset=UTF-8', body };
  }
  if (!accept.includes('application/json')) return plainError(status, message);
  const body = JSON.stringify({ message, code, title: STATUS_CODES[status] });
  return { type: 'application/json', body };
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
