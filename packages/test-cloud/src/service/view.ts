import type { Wire } from './wire.js';

/** A response that shows a resource; `list` is the short list where `.../detail` is the full one. */
export type ViewName = 'list' | 'show' | 'create' | 'change';

/** Selects what one response shows of a resource; undefined: the response has no body. */
export type View = (wire: Wire) => Wire | undefined;

/** The views of a resource. A response without a view shows everything. */
export type Views = Readonly<Partial<Record<ViewName, View>>>;

/** Returns a view that shows only these keys. */
export const only =
  (...keys: readonly string[]): View =>
  (wire) =>
    Object.fromEntries(keys.flatMap((key) => (Object.hasOwn(wire, key) ? [[key, wire[key]]] : [])));

/** Returns a view that shows everything except these keys. */
export const without =
  (...keys: readonly string[]): View =>
  (wire) =>
    Object.fromEntries(Object.entries(wire).filter(([key]) => !keys.includes(key)));

/** The view of a response without a body. */
export const noBody: View = () => undefined;
