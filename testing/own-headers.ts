import type { TestResponse } from './send-request.js';

/** Headers of Node and of bodies, and those that browsers let every page read or that pages do not need. */
const STANDARD = ['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'transfer-encoding', 'vary'];

/** Returns the names of the headers that middleware has added to responses, in lower case and sorted. */
export function ownHeaders(responses: readonly Pick<TestResponse, 'headers'>[]): readonly string[] {
  const names = new Set(responses.flatMap(({ headers }) => Object.keys(headers)));
  return [...names].filter((name) => !STANDARD.includes(name)).sort();
}

/** Returns header names in the same form. */
export function headerNames(names: readonly string[]): readonly string[] {
  return names.map((name) => name.toLowerCase()).sort();
}
