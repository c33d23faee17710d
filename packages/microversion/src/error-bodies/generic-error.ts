import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { ErrorBody } from './error-body.js';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}

/** Media ranges a client takes, without the ones it gives quality 0. */
function rangesIn(accept: string): readonly string[] {
  return accept
    .toLowerCase()
    .split(',')
    .map((part) => part.split(';').map((piece) => piece.trim()))
    .filter(([, ...parameters]) => !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)))
    .map(([range]) => range!);
}

/**
 * The error form of services that let the client choose: HTML where HTML or anything is accepted, else an object
 * with `message`, `code` (`400 Bad Request`) and `title` where JSON is, else (also without `Accept`) plain text.
 */
export function genericError(
  error: { readonly status: number; readonly message: string },
  req: IncomingMessage,
): ErrorBody {
  const title = STATUS_CODES[error.status] ?? 'Error';
  const code = `${error.status} ${title}`;
  const ranges = rangesIn(req.headers.accept ?? '');
  if (ranges.includes('text/html') || ranges.includes('*/*')) {
    const heading = escapeHtml(code);
    return {
      contentType: 'text/html; charset=UTF-8',
      body: `<html>\n<head><title>${heading}</title></head>\n<body>\n<h1>${heading}</h1>\n<p>${escapeHtml(error.message)}</p>\n</body>\n</html>`,
    };
  }
  if (ranges.includes('application/json')) {
    return {
      contentType: 'application/json; charset=UTF-8',
      body: JSON.stringify({ message: error.message, code, title }),
    };
  }
  return { contentType: 'text/plain; charset=UTF-8', body: `${code}\n\n${error.message}\n` };
}
