import { STATUS_CODES } from 'node:http';
import { QuotaError } from '../errors.js';
import { formatJson } from './json-value.js';

/** A response of the router: a status, an optional body with its content type, and additional headers. */
export interface RouterResponse {
  readonly status: number;
  readonly type?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The error of a rejected request, with a response in the error format of this API. */
export class RejectedRequest extends QuotaError {
  readonly response: RouterResponse;

  constructor(status: number, description: string | null, headers?: Readonly<Record<string, string>>) {
    super('REQUEST_REJECTED', description ?? '', { status });
    this.response = { ...jsonResponse(status, { code: status, title: titleOf(status), description }), headers };
  }
}

/** The beginning of error messages in this API. */
export const ISSUE_PREFIX = 'Project Quotas issue seen -';

export function jsonResponse(status: number, body: object): RouterResponse {
  return { status, type: 'application/json', body: formatJson(body) };
}

export const NO_CONTENT_RESPONSE: RouterResponse = { status: 204 };

function titleOf(status: number): string {
  return STATUS_CODES[status] ?? 'Error';
}
