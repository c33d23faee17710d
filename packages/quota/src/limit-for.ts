import type { Limit } from './limits.js';

/** The limit of a kind that applies to a project: its own, or else the default. Throws where there is neither. */
export function limitFor<L extends Limit>(
  kind: string,
  own: Readonly<Record<string, L>> | undefined,
  defaults: Readonly<Record<string, L>>,
): L {
  const limit = own?.[kind] ?? defaults[kind];
  if (limit === undefined) throw new TypeError(`there is no default limit of ${kind}`);
  return limit;
}
