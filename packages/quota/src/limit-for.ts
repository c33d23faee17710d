import type { Limit } from './limits.js';

/** Returns a project's limit for a resource kind: its own limit, or the default. @throws TypeError if neither exists */
export function limitFor<L extends Limit>(
  kind: string,
  own: Readonly<Record<string, L>> | undefined,
  defaults: Readonly<Record<string, L>>,
): L {
  const limit = own?.[kind] ?? defaults[kind];
  if (limit === undefined) throw new TypeError(`missing default limit of ${kind}`);
  return limit;
}
