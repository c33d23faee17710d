import { type ClientOptions, createClient } from '@apistrata/microversion-router/client';
// A type-only import, so that a program with this client contains no server code.
import type { operations } from './operations.js';

type Api = typeof operations;

/** Creates a typed client for one API version, which determines the operations, parameters and bodies. */
export function invoicesClient<const V extends string>(
  url: string,
  version: V,
  key: string,
  options: Omit<ClientOptions<V>, 'version' | 'headers' | 'versionHeaders'> = {},
) {
  return createClient<Api, V>(url, {
    ...options,
    version,
    versionHeaders: () => ({ 'Invoices-Version': version }),
    headers: { authorization: `Bearer ${key}` },
  });
}
