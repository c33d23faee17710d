// Valid requests for the operations that change a project's resources. Path parameters stand for resources of the
// project, and so do their paths in bodies: `</v2.0/networks/{network_id}>` stands for the id of a network.
import { expect } from 'vitest';
import { readFacts } from './operation-facts.js';
import type { Sample, SendRequest } from './resource-contract.js';
import type { ResourceFact } from './resource-facts.js';

/** The method and path of a request, with its body. */
export type RequestTemplate = readonly [request: string, body?: unknown];

/** The requests of a service. */
export interface ServiceRequests {
  /** The bodies of create and change requests, by resource. */
  readonly samples: Readonly<Record<string, Pick<Sample, 'create' | 'change'>>>;
  /** The bodies of other requests, by operation. */
  readonly bodies: Readonly<Record<string, unknown>>;
  /** The requests that create the state that an operation requires, by operation. */
  readonly before: Readonly<Record<string, readonly RequestTemplate[]>>;
  /** The values of path parameters whose collection has no sample. */
  readonly values: Readonly<Record<string, (project: ProjectRequests) => Promise<string> | string>>;
  /** The statuses of requests that this cloud rejects regardless of the caller, by operation. */
  readonly rejected?: Readonly<Record<string, number>>;
  /** Returns the headers of a request. */
  readonly headers?: (method: string, path: string) => Record<string, string>;
}

/** Sends the requests of a service, and creates the resources of a project to which they refer. */
export class ProjectRequests {
  readonly #facts: Readonly<Record<string, ResourceFact>>;
  readonly #ids = new Map<string, string>();

  /** @param admin sends requests as an administrator of the project */
  constructor(
    service: string,
    readonly requests: ServiceRequests,
    readonly admin: SendRequest,
  ) {
    this.#facts = readFacts(service).resources;
  }

  #resourceAt(collection: string): readonly [string, ResourceFact] | undefined {
    return Object.entries(this.#facts).find(([name, { path }]) => path === collection && this.requests.samples[name]);
  }

  /** Creates a resource in a collection, once for each path. */
  async #idIn(collection: string, path: string): Promise<string> {
    const known = this.#ids.get(path);
    if (known) return known;
    const [name = '', fact] = this.#resourceAt(collection) ?? [];
    const { status, body } = await this.admin('POST', path, await this.#createBody(name));
    expect({ status, body }).toMatchObject({ status: fact?.statuses.create });
    const id = (fact?.bare ? body : body[name])[fact?.key ?? 'id'];
    this.#ids.set(path, id);
    return id;
  }

  async #createBody(name: string): Promise<unknown> {
    const fields = await this.requests.samples[name]?.create?.(this.admin);
    return this.#facts[name]?.bare ? fields : { [name]: fields };
  }

  /** Replaces the placeholders in a path by the ids of resources. */
  async path(template: string): Promise<string> {
    let collection = '';
    let path = '';
    for (const segment of template.split('/').slice(1)) {
      const [, name] = /^\{(\w+)\}$/.exec(segment) ?? [];
      path += `/${name === undefined ? segment : await this.#valueOf(name, collection, path)}`;
      collection += `/${segment}`;
    }
    return path;
  }

  async #valueOf(name: string, collection: string, path: string): Promise<string> {
    if (this.#resourceAt(collection)) return this.#idIn(collection, path);
    const value = this.requests.values[name];
    if (!value) throw new Error(`no value for {${name}} in ${collection}`);
    return value(this);
  }

  /** Returns the body of an operation; undefined if it has none. */
  async body(method: string, template: string): Promise<unknown> {
    const body = this.requests.bodies[`${method} ${template}`];
    if (body !== undefined) return this.#replaced(body);
    if (template.endsWith('/tags') && method !== 'DELETE') return { tags: ['blue'] };
    const [created] = this.#resourceAt(template) ?? [];
    if (created && method === 'POST') return this.#createBody(created);
    const [changed] = this.#resourceAt(template.replace(/\/\{\w+\}$/, '')) ?? [];
    if (!changed || method === 'DELETE') return undefined;
    const { change } = this.requests.samples[changed] ?? {};
    return this.#facts[changed]?.bare ? change : { [changed]: change };
  }

  /** Returns the id at the end of a path. */
  async id(template: string): Promise<string> {
    return (await this.path(template)).split('/').at(-1) ?? '';
  }

  /** Replaces the paths in a body by ids. */
  async #replaced(body: unknown): Promise<unknown> {
    if (body === undefined) return undefined;
    let text = JSON.stringify(body);
    for (const [placeholder, template = ''] of text.matchAll(/<([^>]+)>/g))
      text = text.replace(placeholder, await this.id(template));
    return JSON.parse(text);
  }

  /** Sends the requests that create the state that an operation requires. */
  async prepare(operation: string): Promise<void> {
    for (const [request, body] of this.requests.before[operation] ?? []) {
      const [method = '', template = ''] = request.split(' ');
      const path = await this.path(template);
      const response = await this.admin(method, path, await this.#replaced(body));
      expect(response.status, `${request}: ${JSON.stringify(response.body)}`).toBeLessThan(300);
    }
  }
}
