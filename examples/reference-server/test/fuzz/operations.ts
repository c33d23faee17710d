type Json = Record<string, any>;

/** The OpenAPI description of an operation at one of the `MINOR_VERSIONS`, used for all versions up to the next one. */
export interface OperationDescription {
  readonly minorVersions: readonly [first: number, last: number];
  readonly parameters: readonly Json[];
  readonly body: Json | undefined;
}

/** An operation of the API. Each server action is a separate operation. */
export interface Operation {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly descriptions: OperationDescription[];
  /** The relative frequency of the operation; 1 for a removed operation. */
  readonly weight: number;
  /** Whether most other operations need the result, so that each sender starts with this operation. */
  readonly first: boolean;
  /** The documented 5xx statuses. */
  readonly failures: Set<number>;
}

/** Versions with many changes. Versions between them are called with the description of the previous one. */
const MINOR_VERSIONS = [1, 37, 53, 74, 100];

const ALL_MINOR_VERSIONS = [1, 100] as const;

const CREATE_PLAIN_SERVER = 'POST /v2.1/servers plain';

/** Operations that the API document does not describe, and one that creates a valid server. */
const UNDESCRIBED: readonly (readonly [
  name: string,
  weight: number,
  minors: OperationDescription['minorVersions'],
  body?: Json,
])[] = [
  ['GET /', 1, ALL_MINOR_VERSIONS],
  ['GET /v2/', 1, ALL_MINOR_VERSIONS],
  ['GET /v2.1/', 1, ALL_MINOR_VERSIONS],
  ['GET /healthcheck', 1, ALL_MINOR_VERSIONS],
  ['GET /openapi.json', 1, ALL_MINOR_VERSIONS],
  ['GET /v1/quotas', 3, ALL_MINOR_VERSIONS],
  ['GET /v1/project-quotas', 3, ALL_MINOR_VERSIONS],
  ['GET /v1/project-quotas/{id}', 3, ALL_MINOR_VERSIONS],
  ['DELETE /v1/project-quotas/{id}', 3, ALL_MINOR_VERSIONS],
  [
    'PUT /v1/project-quotas/{id}',
    3,
    ALL_MINOR_VERSIONS,
    { project_quotas: { secrets: { type: 'integer' }, orders: { type: 'integer' } } },
  ],
  [
    CREATE_PLAIN_SERVER,
    20,
    [37, 100],
    {
      server: {
        name: { type: 'string' },
        imageRef: { const: '70a599e0-31e7-49b7-b260-868f441e862b' },
        flavorRef: { enum: ['1', '2'] },
        networks: { const: 'auto' },
      },
    },
  ],
];

/** Creates a schema of nested objects whose fields are all required. */
function objectSchema(members: Json): Json {
  const schemas = Object.entries(members).map(([name, inner]) => {
    const isSchema = 'type' in inner || 'const' in inner || 'enum' in inner;
    return [name, isSchema ? inner : objectSchema(inner)];
  });
  return { type: 'object', properties: Object.fromEntries(schemas), required: Object.keys(members) };
}

function resolveRef(value: any, document: Json): any {
  const name = typeof value?.$ref === 'string' ? value.$ref.slice(2) : undefined;
  return name === undefined ? value : name.split('/').reduce((at: any, key: string) => at?.[key], document);
}

/** Returns all operations of a server. */
export async function operationsOf(url: string): Promise<readonly Operation[]> {
  const found = new Map<string, Operation>();
  const add = (name: string, weight: number, description: OperationDescription, failures: readonly number[] = []) => {
    const [method, path] = name.split(' ') as [string, string];
    const operation = found.get(name) ?? {
      ...{ name, method, path, weight, first: name === CREATE_PLAIN_SERVER },
      descriptions: [],
      failures: new Set<number>(),
    };
    operation.descriptions.push(description);
    for (const status of failures) operation.failures.add(status);
    found.set(name, operation);
  };
  for (const [index, minor] of MINOR_VERSIONS.entries()) {
    const document = (await (await fetch(`${url}/openapi.json?version=2.${minor}`)).json()) as Json;
    const minorVersions = [minor, (MINOR_VERSIONS[index + 1] ?? minor + 1) - 1] as const;
    for (const [path, methods] of Object.entries(document.paths as Json)) {
      for (const [method, operation] of Object.entries(methods as Json)) {
        const statuses = Object.keys(operation.responses).map(Number);
        const weight = statuses.includes(410) ? 1 : 3;
        const failures = statuses.filter((status) => status >= 500);
        const parameters = (operation.parameters ?? []).map((one: Json) => resolveRef(one, document));
        const schema = resolveRef(Object.values((operation.requestBody?.content ?? {}) as Json)[0]?.schema, document);
        for (const body of schema?.oneOf ?? [schema]) {
          const name = `${method.toUpperCase()} /v2.1${path} ${body?.title ?? ''}`.trim();
          add(name, weight, { minorVersions, parameters, body }, failures);
        }
      }
    }
  }
  for (const [name, weight, minorVersions, body] of UNDESCRIBED) {
    add(name, weight, { minorVersions, parameters: [], body: body && objectSchema(body) });
  }
  return [...found.values()];
}
