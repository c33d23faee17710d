import type { Wire } from '../service/wire.js';

/** A difference between the formats of two responses. */
export interface ShapeDifference {
  /** The location of the difference: `status`, `header vary`, or a path in the body: `$.servers[].addresses`. */
  readonly where: string;
  readonly recorded: string;
  readonly actual: string;
}

const ABSENT = 'absent';
/** The fields with user-defined keys, whose values are compared like the elements of a list. */
const FREE_FORM_FIELDS = new Set([
  'metadata',
  'properties',
  'extra_specs',
  'addresses',
  'os:scheduler_hints',
  'volume_image_metadata',
  'image_metadata',
  'connection_info',
  'connector',
  'options',
  'usages',
  'inventories',
  'allocations',
  'resources',
  'binding:profile',
  'binding:vif_details',
]);

/**
 * Returns whether a value in JSON is an object. Duplicated, because an import from a service would add a file to the
 * bundled command.
 */
export const isObject = (value: unknown): value is Wire =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function typeOf(value: unknown): string {
  if (value === undefined) return ABSENT;
  if (value === null) return 'null';
  return Array.isArray(value) ? 'list' : typeof value;
}

/** Merges several values into one value that has the fields of all. */
function mergeShapes(values: readonly unknown[]): unknown {
  const presentValues = values.filter((value) => value !== null && value !== undefined);
  if (presentValues.length === 0) return values[0];
  if (presentValues.every(isObject)) {
    const names = new Set(presentValues.flatMap((value) => Object.keys(value)));
    return Object.fromEntries(
      [...names].map((name) => [
        name,
        mergeShapes(presentValues.map((value) => value[name]).filter((item) => item !== undefined)),
      ]),
    );
  }
  if (presentValues.every(Array.isArray)) return presentValues.flat();
  return presentValues[0];
}

/**
 * Returns where the formats of two values differ: types, and fields that only one value has. Null matches everything.
 * Lists are compared by the union of their elements; an empty list matches every list.
 */
export function shapeDifferences(recorded: unknown, actual: unknown, path = '$'): ShapeDifference[] {
  if (recorded === null || actual === null) return [];
  if (typeOf(recorded) !== typeOf(actual)) return [{ where: path, recorded: typeOf(recorded), actual: typeOf(actual) }];
  if (Array.isArray(recorded) && Array.isArray(actual)) {
    if (recorded.length === 0 || actual.length === 0) return [];
    return shapeDifferences(mergeShapes(recorded), mergeShapes(actual), `${path}[]`);
  }
  if (!isObject(recorded) || !isObject(actual)) return [];
  const name = path.slice(path.lastIndexOf('.') + 1);
  if (FREE_FORM_FIELDS.has(name)) {
    const [one, other] = [Object.values(recorded), Object.values(actual)];
    return one.length === 0 || other.length === 0
      ? []
      : shapeDifferences(mergeShapes(one), mergeShapes(other), `${path}.*`);
  }
  return [...new Set([...Object.keys(recorded), ...Object.keys(actual)])].flatMap((field) => {
    const [one, other] = [recorded[field], actual[field]];
    const at = `${path}.${field}`;
    if (one === undefined || other === undefined) return [{ where: at, recorded: typeOf(one), actual: typeOf(other) }];
    return shapeDifferences(one, other, at);
  });
}

export type Headers = Readonly<Record<string, string>>;

/** The headers that clients evaluate, which are compared by value without parameters, or only by presence. */
const EVALUATED_HEADERS = {
  'content-type': 'value',
  'openstack-api-version': 'value',
  'x-openstack-nova-api-version': 'value',
  'x-subject-token': 'presence',
  'x-compute-request-id': 'presence',
  'x-openstack-request-id': 'presence',
  location: 'presence',
  'www-authenticate': 'presence',
  'openstack-image-store-ids': 'presence',
  'retry-after': 'presence',
} as const;

/** Returns the differences in the headers that clients evaluate. */
export function headerDifferences(recorded: Headers, actual: Headers): ShapeDifference[] {
  return Object.entries(EVALUATED_HEADERS).flatMap(([name, rule]) => {
    const comparedText = (headers: Headers) => {
      const text = headers[name];
      if (text === undefined) return ABSENT;
      return rule === 'value' ? text.replace(/;.*/s, '').trim() : 'present';
    };
    return comparedText(recorded) === comparedText(actual)
      ? []
      : [{ where: `header ${name}`, recorded: comparedText(recorded), actual: comparedText(actual) }];
  });
}
