import { STATUS_CODES } from 'node:http';
import { QuotaError } from '../errors.js';
import { printJson } from './json-value.js';

/** What is sent: a status, a body with its type unless there is none, more headers. */
export interface Answer {
  readonly status: number;
  readonly type?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request that gets the error body of this API. */
export class Refusal extends QuotaError {
  readonly answer: Answer;

  constructor(status: number, description: string | null, headers?: Readonly<Record<string, string>>) {
    super('REQUEST_REFUSED', description ?? '', { status });
    this.answer = { ...json(status, { code: status, title: titleOf(status), description }), headers };
  }
}

/** How texts of refused requests begin. */
export const ISSUE = 'Project Quotas issue seen -';

export function json(status: number, body: object): Answer {
  return { status, type: 'application/json', body: printJson(body) };
}

export const NO_CONTENT: Answer = { status: 204 };

function titleOf(status: number): string {
  return STATUS_CODES[status] ?? 'Error';
}
