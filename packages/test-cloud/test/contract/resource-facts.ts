// The facts of a service's resources in `reference/`, and the invalid values that follow from them.
export type View = 'create' | 'show' | 'list' | 'change';

type JsonType = 'array' | 'boolean' | 'integer' | 'null' | 'number' | 'object' | 'string';

/** The valid values of a request field, as JSON Schema keywords. */
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
  /** Additional values that are rejected. */
  readonly invalid?: readonly unknown[];
  /** The first minor version that accepts the field. */
  readonly since?: number;
  /** Whether a create request without the field is rejected. */
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
  /** Whether bodies with a single resource have no envelope. */
  readonly bare?: true;
  /** Whether create requests contain a list of resources, in an envelope with the plural name. */
  readonly bulk?: true;
  /** The method of create requests. With PUT, clients choose the ID. Default: POST. */
  readonly create?: 'PUT';
  /** The method of change requests. */
  readonly change?: 'PATCH' | 'PUT';
  /** The status of each request on success. Requests that the service does not support are missing. */
  readonly statuses: Readonly<Partial<Record<View | 'remove', number>>>;
  /** The error statuses that project members receive, for the requests that they may not send. */
  readonly member?: Readonly<Partial<Record<View | 'remove', number>>>;
  /**
   * The fields of each response; `create`, `list` and `change` only where they differ from `show`. null: the response
   * has no body. If `response` is missing, other tests compare the fields.
   */
  readonly response?: Readonly<Partial<Record<View, readonly string[] | null>>>;
  readonly request: Readonly<Record<string, FieldFact>>;
  /** Whether requests may contain fields that are not in `request`. */
  readonly additional: boolean;
  /** Whether requests that set a read-only field are rejected. */
  readonly rejectsReadOnly?: true;
  /** The status of a change request without fields, if the original service defines it. */
  readonly emptyChange?: number;
  /** Whether a create request without an envelope counts as one without fields, instead of being rejected. */
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

/** An ID that no resource has. */
export const MISSING = '3f1de7a6-56a5-4c29-8f1d-5f4a55c1a0ee';

/** Returns invalid values for a field, each with the reason why it is invalid. */
export function invalidValues(fact: FieldFact): readonly (readonly [string, unknown])[] {
  const types = [fact.type].flat();
  const accepts = (type: JsonType) => types.includes(type) || (type === 'integer' && types.includes('number'));
  const values: (readonly [string, unknown])[] = (Object.keys(VALUES) as JsonType[])
    .filter((type) => !accepts(type))
    .map((type) => [type, VALUES[type]]);
  if (fact.maxLength !== undefined) values.push(['too long', 'x'.repeat(fact.maxLength + 1)]);
  if (fact.minLength) values.push(['too short', 'x'.repeat(fact.minLength - 1)]);
  if (fact.minimum !== undefined) values.push(['too small', fact.minimum - 1]);
  // Adding 1 to a number above 2^53 may leave it unchanged.
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
