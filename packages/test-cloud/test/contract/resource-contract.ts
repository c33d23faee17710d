// Compares a service's resources with the facts in `reference/`: response fields, statuses, and valid request values.
import { describe, expect, it } from 'vitest';
import { type ApiResponse, clientOf, cloudUnderTest } from '../clouds.js';
import { readFacts } from './operation-facts.js';
import { invalidValues, MISSING, type ResourceFact, type View } from './resource-facts.js';

export type SendRequest = (method: string, path: string, body?: unknown) => Promise<ApiResponse>;

/** Valid requests for a resource. */
export interface Sample {
  /** Returns the ID of an existing resource, if clients cannot create one directly. */
  readonly existing?: (request: SendRequest) => Promise<string>;
  /** Returns the body of a create request without its envelope. Creates the resources that the body refers to. */
  readonly create?: (request: SendRequest) => Promise<object> | object;
  /** The other fields of a create request that a field requires, by field. */
  readonly withField?: Readonly<Record<string, object>>;
  /** The body of a change request. */
  readonly change?: object;
  /** Returns the values of path parameters, such as `{ user_id: ... }`. */
  readonly parameters?: (request: SendRequest) => Promise<Readonly<Record<string, string>>>;
}

let idCount = 0;

const keysOf = (wire: unknown) => Object.keys(wire as object).sort();

/** A resource of a service in one cloud, with the requests that its facts describe. */
class ResourceUnderTest {
  constructor(
    readonly fact: ResourceFact,
    readonly name: string,
    readonly request: SendRequest,
    readonly path: string,
    /** Sends requests as a member of a project. */
    readonly member: SendRequest,
  ) {}

  /** Returns the same resource, with requests of a member. */
  ofMember = () => new ResourceUnderTest(this.fact, this.name, this.member, this.path, this.member);

  /** Returns the body of a request. */
  wrap = (fields: object) => (this.fact.bare ? fields : { [this.name]: fields });

  one = (response: ApiResponse): any => (this.fact.bare ? response.body : response.body[this.name]);

  /** Returns the value that identifies a resource in paths. */
  keyOf = (wire: any): string => wire?.[this.fact.key ?? 'id'];

  created = (response: ApiResponse): any => (this.fact.bulk ? response.body[this.fact.many][0] : this.one(response));

  create = (fields: object) => {
    if (this.fact.create) return this.request(this.fact.create, `${this.path}/id-${++idCount}`, this.wrap(fields));
    return this.request('POST', this.path, this.fact.bulk ? { [this.fact.many]: [fields] } : this.wrap(fields));
  };

  change = (id: string, fields: object) =>
    this.request(this.fact.change ?? 'PATCH', `${this.path}/${id}`, this.wrap(fields));
}

/** Defines the tests of a service's resources. Each resource must have a sample. */
export function describeResources(
  service: string,
  samples: Readonly<Record<string, Sample>>,
  headers: Record<string, string> = {},
): void {
  const facts: Readonly<Record<string, ResourceFact>> = readFacts(service).resources;

  it('has a sample for each resource in the facts', () => {
    expect(Object.keys(samples).sort()).toEqual(Object.keys(facts).sort());
  });

  describe.each(Object.entries(facts))('%s', (name, fact) => {
    const sample: Sample = samples[name] ?? {};
    const validFields = async (request: SendRequest): Promise<object> => (await sample.create?.(request)) ?? {};
    const { statuses, response, member = {}, request: fields, invalid = 400 } = fact;

    async function start(): Promise<ResourceUnderTest> {
      const cloud = await cloudUnderTest();
      const requestAs = (token?: string): SendRequest => {
        const send = clientOf(cloud, token);
        return (method, path, body) => send(method, `/${service}${path}`, body, headers);
      };
      const parameters = (await sample.parameters?.(requestAs())) ?? {};
      const path = fact.path.replaceAll(/\{(\w+)\}/g, (_, key: string) => parameters[key] ?? `no sample of ${key}`);
      return new ResourceUnderTest(fact, name, requestAs(), path, requestAs(cloud.token('demo', 'demo')));
    }

    /** Starts a cloud and creates one resource, which must succeed. */
    async function startWithOne() {
      const resource = await start();
      const existing = await sample.existing?.(resource.request);
      if (existing !== undefined) return { resource, id: existing };
      const response = await resource.create(await validFields(resource.request));
      expect(response.status, JSON.stringify(response.body)).toBe(statuses.create);
      const created = resource.created(response);
      return { resource, created, id: resource.keyOf(created) };
    }

    const expectFields = (view: View, wire: unknown) => {
      if (!response) return;
      const expected = response[view] === undefined ? response.show : response[view];
      expect(keysOf(wire)).toEqual([...(expected ?? [])].sort());
    };

    it('has the statuses and fields of the original', async () => {
      const { resource, created, id } = await startWithOne();
      const { request, path, one } = resource;
      if (created) expectFields('create', created);
      if (statuses.show) {
        const shown = await request('GET', `${path}/${id}`);
        expect(shown.status).toBe(statuses.show);
        expectFields('show', one(shown));
      }
      if (statuses.list) {
        const listed = await request('GET', path);
        expect(listed.status).toBe(statuses.list);
        // Some lists are objects that contain the resources by name.
        const items: readonly any[] = Object.values(listed.body[fact.many]);
        expectFields(
          'list',
          items.find((item) => resource.keyOf(item) === id),
        );
      }
      if (statuses.change) {
        const changed = await resource.change(id, sample.change ?? {});
        expect(changed.status, JSON.stringify(changed.body)).toBe(statuses.change);
        if (response?.change === null) expect(changed.body).toBe('');
        else expectFields('change', one(changed));
      }
      if (statuses.remove) {
        const removed = await request('DELETE', `${path}/${id}`);
        expect(removed.status).toBe(statuses.remove);
        expect((await request('DELETE', `${path}/${id}`)).status).toBe(404);
        if (statuses.show) expect((await request('GET', `${path}/${id}`)).status).toBe(404);
        if (statuses.change) expect((await resource.change(id, sample.change ?? {})).status).toBe(404);
      }
    });

    it.runIf(statuses.create)('rejects incomplete creations, unknown fields, and missing envelopes', async () => {
      const resource = await start();
      const valid = (await validFields(resource.request)) as Readonly<Record<string, unknown>>;
      for (const [key, { required }] of Object.entries(fields)) {
        if (!required) continue;
        const { [key]: _, ...others } = valid;
        expect([key, (await resource.create(others)).status]).toEqual([key, invalid]);
      }
      if (!fact.additional) expect((await resource.create({ ...valid, unheard_of: 1 })).status).toBe(invalid);
      const [method, path] = fact.create ? [fact.create, `${resource.path}/unwrapped`] : ['POST', resource.path];
      const unwrapped = fact.openEnvelope ? statuses.create : invalid;
      if (!fact.bare) expect((await resource.request(method, path, valid)).status).toBe(unwrapped);
    });

    const cells = Object.entries(fields).flatMap(([key, field]) =>
      invalidValues(field).flatMap(([problem, value]) =>
        (['create', 'change'] as const)
          .filter((verb) => statuses[verb] && (field.in ?? verb) === verb)
          .map((verb) => [verb, key, problem, value] as const),
      ),
    );
    it.runIf(fact.emptyChange)('handles a change without fields', async () => {
      const { resource, id } = await startWithOne();
      expect((await resource.change(id, {})).status).toBe(fact.emptyChange);
    });

    it('rejects invalid values', async () => {
      const { resource, id } = await startWithOne();
      const valid = await validFields(resource.request);
      const accepted: unknown[] = [];
      for (const [verb, key, problem, value] of cells) {
        const others = verb === 'create' ? { ...valid, ...sample.withField?.[key] } : sample.change;
        const body = { ...others, [key]: value };
        const { status } = verb === 'create' ? await resource.create(body) : await resource.change(id, body);
        if (status !== invalid) accepted.push([verb, key, problem, status]);
      }
      expect(accepted).toEqual([]);
    });

    it('responds with 404 to requests for a missing resource', async () => {
      const { request, path, change } = await start();
      if (statuses.show) expect((await request('GET', `${path}/${MISSING}`)).status).toBe(404);
      if (statuses.change) expect((await change(MISSING, sample.change ?? {})).status).toBe(404);
      if (statuses.remove) expect((await request('DELETE', `${path}/${MISSING}`)).status).toBe(404);
    });

    it.runIf(fact.rejectsReadOnly)('rejects fields in requests that do not accept them', async () => {
      const { resource, id } = await startWithOne();
      const valid = (await validFields(resource.request)) as Readonly<Record<string, unknown>>;
      const accepted: unknown[] = [];
      for (const key of new Set([...(response?.show ?? []), ...Object.keys(fields)]))
        for (const verb of ['create', 'change'] as const) {
          if (!statuses[verb] || (fields[key] && (fields[key].in ?? verb) === verb)) continue;
          const value = valid[key] ?? null;
          const { status } =
            verb === 'create'
              ? await resource.create({ ...valid, [key]: value })
              : await resource.change(id, { [key]: value });
          if (status !== invalid) accepted.push([verb, key, status]);
        }
      expect(accepted).toEqual([]);
    });

    it.runIf(Object.keys(member).length > 0)('rejects requests of a member, or hides the resource', async () => {
      const { resource, id } = await startWithOne();
      const { request, path, create, change } = resource.ofMember();
      const requests: Readonly<Record<View | 'remove', () => Promise<ApiResponse>>> = {
        create: async () => create(await validFields(resource.request)),
        show: () => request('GET', `${path}/${id}`),
        list: () => request('GET', path),
        change: () => change(id, sample.change ?? {}),
        remove: () => request('DELETE', `${path}/${id}`),
      };
      for (const [verb, status] of Object.entries(member)) {
        const response = await requests[verb as View]();
        expect([verb, response.status]).toEqual([verb, status]);
        if (status === 200) expect(response.body[fact.many]).toEqual([]);
      }
    });
  });
}
