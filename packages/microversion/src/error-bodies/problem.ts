import { STATUS_CODES } from 'node:http';
import { type MicroversionError, RequestError } from '../errors.js';
import type { ErrorBody } from './error-body.js';

/** An error that a response describes: a {@link RequestError}, or an error of a handler with a status. */
export interface SentError {
  readonly status: number;
  readonly message: string;
  /** The code of the error, if it is a string. */
  readonly code?: unknown;
}

/** Options for {@link problem}. */
export interface ProblemOptions {
  /** Returns `type`, the URI that identifies the problem type. Default: `type` is omitted, which means `about:blank`. */
  readonly type?: (code: MicroversionError['code']) => string;
}

interface Issue {
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
  readonly message: string;
}

function pointer(path: Issue['path'] = []): string {
  const keys = path.map((part) => String(typeof part === 'object' ? part.key : part));
  return keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

type ValidationError = RequestError & {
  readonly issues?: readonly Issue[];
  readonly problems?: readonly { readonly parameter: string; readonly issues: readonly Issue[] }[];
};

/** Returns an error for each invalid value in a body (with its JSON pointer) or in a query string (with its parameter name). */
function validationErrorsOf({ issues, problems }: ValidationError) {
  if (issues) return { errors: issues.map(({ path, message }) => ({ pointer: pointer(path), detail: message })) };
  const errors = problems?.flatMap(({ parameter, issues: parameterIssues }) =>
    parameterIssues.map(({ message }) => ({ parameter, detail: message })),
  );
  return errors && { errors };
}

/** Returns the versions that a client can request instead, for negotiation errors. */
function versionsOf({ served, status }: RequestError) {
  if (!served || status === 404) return undefined;
  const { min, max, versions } = served;
  return versions ? { versions: versions.map(String) } : { min_version: min.text, max_version: max.text };
}

/**
 * Creates a formatter for problem details as defined by RFC 9457 (`application/problem+json`), with `title`, `status`,
 * `detail`, the `code` of the error, the supported `versions` after a failed negotiation, and `errors` for an invalid
 * body or query.
 */
export function problem({ type }: ProblemOptions = {}): (error: SentError) => ErrorBody {
  return (error) =>
    problemBody(
      error,
      error instanceof RequestError ? { ...versionsOf(error), ...validationErrorsOf(error) } : {},
      type,
    );
}

/** Returns problem details for any error with a status. */
export function problemBody(
  error: SentError,
  members: Readonly<Record<string, unknown>> = {},
  type?: ProblemOptions['type'],
): ErrorBody {
  const { status, message: detail, code } = error;
  const body = {
    ...(type && { type: type(code as MicroversionError['code']) }),
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail,
    ...(typeof code === 'string' && { code }),
    ...members,
  };
  return { contentType: 'application/problem+json', body: JSON.stringify(body) };
}

/** Formats an error as `{"error": {"code", "status", "message"}}`, for clients that expect plain JSON. */
export function jsonError({ code, status, message }: SentError): ErrorBody {
  return { contentType: 'application/json; charset=UTF-8', body: JSON.stringify({ error: { code, status, message } }) };
}
