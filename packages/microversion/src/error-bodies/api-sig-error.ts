import { STATUS_CODES } from 'node:http';
import type { RequestError } from '../errors.js';
import type { ErrorBody } from './error-body.js';

const ERROR_KINDS: Readonly<Record<string, { readonly code: string; readonly title: string }>> = {
  INVALID_VERSION_HEADER: { code: 'microversion-invalid', title: 'Malformed microversion' },
  UNACCEPTABLE_VERSION: { code: 'microversion-unsupported', title: 'Unsupported microversion' },
  NOT_IN_VERSION: { code: 'not-found', title: 'Not found' },
};

function kindOf({ code, status }: RequestError) {
  return ERROR_KINDS[code] ?? { code: code.toLowerCase().replaceAll('_', '-'), title: STATUS_CODES[status] ?? 'Error' };
}

/**
 * Formats an error as the API-SIG guidelines define: a list `errors` of objects with `code` (`<service>.<reason>`), `status`,
 * `title`, `detail`, and, if a version was rejected, `min_version` and `max_version`. The body is JSON, regardless of `Accept`.
 */
export function apiSigError(error: RequestError): ErrorBody {
  const { code, title } = kindOf(error);
  const versionRange =
    error.served && error.status !== 404
      ? { min_version: error.served.min.text, max_version: error.served.max.text }
      : undefined;
  const errorEntry = {
    code: error.served ? `${error.served.service}.${code}` : code,
    status: error.status,
    title,
    detail: error.message,
    ...versionRange,
  };
  return { contentType: 'application/json; charset=UTF-8', body: JSON.stringify({ errors: [errorEntry] }) };
}
