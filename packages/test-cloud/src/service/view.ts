import type { Wire } from './wire.js';

/** The response that shows a resource. In services with detailed lists, `list` is the short list. */
export type ViewName = 'list' | 'show' | 'create' | 'change';

/** Selects the fields of a resource that a response contains; undefined: the response has no body. */
export type View = (wire: Wire) => Wire | undefined;

/** The views of a resource, by response. Responses without a view contain all fields. */
export type Views = Readonly<Partial<Record<ViewName, View>>>;

/** Returns a view that keeps only these fields. */
export const onlyFields =
  (...keys: readonly string[]): View =>
  (wire) =>
    Object.fromEntries(keys.flatMap((key) => (Object.hasOwn(wire, key) ? [[key, wire[key]]] : [])));

/** Returns a view that omits these fields. */
export const withoutFields =
  (...keys: readonly string[]): View =>
  (wire) =>
    Object.fromEntries(Object.entries(wire).filter(([key]) => !keys.includes(key)));

/** The view for responses without a body. */
export const noBody: View = () => undefined;
