// The facts of a service's resources in `reference/`, and the invalid values that follow from them.
export type View = 'create' | 'show' | 'list' | 'change';

type JsonType = 'array' | 'boolean' | 'integer' | 'null' | 'number' | 'object' | 'string';

/** The values of a field of requests, in terms of JSON Schema. */
export interface FieldFact {
  readonly type: JsonType | readonly JsonType[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  /** The format of strings, such as `uuid`. */
  readonly format?: string;
  readonly minProperties?: number;
  readonly minItems?: number;
  readonly uniqueItems?: true;
  /** Further values that are rejected. */
  readonly invalid?: readonly unknown[];
  /** The first minor version that accepts the field. */
  readonly since?: number;
  /** Whether a creation without the field is rejected. */
  readonly required?: true;
  /** The requests that accept the field; default: both. */
  readonly in?: 'create' | 'change';
}

/** A resource of a service: its requests and responses. */
export interface ResourceFact {
  /** The path of the collection, such as `/v3/users`. */
  readonly path: string;
  /** The key of lists. */
  readonly many: string;
  /** The field that identifies a resource in paths; default: `id`. */
  readonly key?: string;
  /** Whether one resource has no envelope. */
  readonly bare?: true;
  /** Whether creations contain a list of resources, in an envelope with the plural name. */
  readonly bulk?: true;
  /** The method of creations; PUT: clients choose the ID. Default: POST. */
  readonly create?: 'PUT';
  /** The method of changes. */
  readonly change?: 'PATCH' | 'PUT';
  /** The statuses of success; those of requests that do not exist are missing. */
  readonly statuses: Readonly<Partial<Record<View | 'remove', number>>>;
  /** The statuses for a member of a project, for requests that members cannot make. */
  readonly member?: Readonly<Partial<Record<View | 'remove', number>>>;
  /**
   * Fields of responses; `create`, `list` and `change` only where they differ from `show`. null: no body. Missing:
   * other tests compare them.
   */
  readonly response?: Readonly<Partial<Record<View, readonly string[] | null>>>;
  readonly request: Readonly<Record<string, FieldFact>>;
  /** Whether requests may contain fields that are not in `request`. */
  readonly additional: boolean;
  /** Whether requests are rejected if they set a field that the response shows, but that they do not accept. */
  readonly rejectsReadOnly?: true;
  /** The status of a change without fields, if the original defines it. */
  readonly emptyChange?: number;
  /** Whether a creation without an envelope has no fields, instead of being rejected. */
  readonly openEnvelope?: true;
  /** The status of a request with invalid values; default 400. */
  readonly invalid?: number;
}

const VALUES: Readonly<Record<JsonType, unknown>> = {
  array: [],
  boolean: true,
  integer: 7,
  null: null,
  number: 7.5,
  object: {},
  string: 'x',
};

/** The ID of no resource. */
export const MISSING = '3f1de7a6-56a5-4c29-8f1d-5f4a55c1a0ee';

/** Returns invalid values of a field, each with what is wrong. */
export function invalidValues(fact: FieldFact): readonly (readonly [string, unknown])[] {
  const types = [fact.type].flat();
  const accepts = (type: JsonType) => types.includes(type) || (type === 'integer' && types.includes('number'));
  const values: (readonly [string, unknown])[] = (Object.keys(VALUES) as JsonType[])
    .filter((type) => !accepts(type))
    .map((type) => [type, VALUES[type]]);
  if (fact.maxLength !== undefined) values.push(['too long', 'x'.repeat(fact.maxLength + 1)]);
  if (fact.minLength) values.push(['too short', 'x'.repeat(fact.minLength - 1)]);
  if (fact.minimum !== undefined) values.push(['too small', fact.minimum - 1]);
  // A number above 2^53 is the same number after an addition of 1.
  if (fact.maximum !== undefined)
    values.push(['too large', Number.isSafeInteger(fact.maximum) ? fact.maximum + 1 : fact.maximum * 2]);
  if (fact.enum) values.push(['not a known value', 'unheard-of']);
  if (fact.pattern !== undefined) values.push(['not of the pattern', '!']);
  if (fact.format) values.push([`not a ${fact.format}`, '3f1de7a6-56a5-4c29']);
  if (fact.minProperties) values.push(['without properties', {}]);
  if (fact.minItems) values.push(['without items', []]);
  if (fact.uniqueItems) values.push(['with equal items', [MISSING, MISSING]]);
  return [...values, ...(fact.invalid ?? []).map((value) => [JSON.stringify(value), value] as const)];
}
