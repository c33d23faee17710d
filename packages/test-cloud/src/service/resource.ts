import type { Call } from './call.js';
import { documentStorage } from './document-storage.js';
import type { Doc } from './documents.js';
import { defaultOf, type Fields } from './field.js';
import { readFields, withDefaults } from './read-fields.js';
import type { Route } from './route.js';
import type { Storage } from './storage.js';
import type { ResourceNames, ResourceType, Style, Verb } from './style.js';
import type { Views } from './view.js';
import type { Wire } from './wire.js';

type Awaitable<T> = T | Promise<T>;

/** The specification of a service's resource type. */
export interface ResourceSpec extends ResourceNames {
  /** Returns the field definitions. Called once, on first use. */
  readonly fields: () => Fields;
  /** The supported verbs; default: list, show, create, change and remove. */
  readonly verbs?: readonly Verb[];
  /** The verbs that only administrators may use; default: those that the service restricts. */
  readonly admin?: readonly Verb[];
  /** Throws a 404 error if the caller cannot see the parent resource in the path, or 403 if it may not use the verb. */
  readonly requireParent?: (call: Call, verb: Verb) => Awaitable<unknown>;
  /** Throws a 404 error if the caller cannot see a resource that a create request refers to. */
  readonly requireSource?: (call: Call, values: Wire) => Awaitable<unknown>;
  /**
   * Whether the caller may see a record; default: administrators and its project may, other projects only if it is
   * shared.
   */
  readonly isVisible?: (call: Call, doc: Doc) => boolean;
  /** Throws a service-specific error if the caller may not use the filters of a list request. */
  readonly checkListing?: (call: Call) => void;
  /** Whether a list includes a record that the caller may see; default true. */
  readonly lists?: (call: Call, doc: Doc) => boolean;
  /**
   * Selects the fields in each response; default: all fields. In a service with detailed lists, a `list` view also adds
   * the route `.../detail`.
   */
  readonly views?: Views;
  /** `only`: create requests always contain a list of resources, in an envelope with the plural name. */
  readonly bulk?: 'only';
  /** Throws a service-specific error if the record cannot be created. Returned fields are also stored. */
  readonly creating?: (call: Call, doc: Wire, resource: Resource) => Awaitable<Wire | undefined>;
  readonly changing?: (call: Call, before: Doc, change: Wire) => Awaitable<Wire | undefined>;
  /** Called after a record has been stored. */
  readonly created?: (call: Call, doc: Doc) => void;
  readonly removing?: (call: Call, doc: Doc) => Awaitable<unknown>;
  /** Returns fields that responses contain in addition to the fields of the record. */
  readonly shows?: (call: Call, doc: Doc) => Awaitable<Wire>;
  /** Additional routes, such as action routes. They take precedence over the standard routes. */
  readonly routes?: (resource: Resource) => readonly Route[];
  /** Response statuses that override the service's default statuses. */
  readonly statuses?: { readonly create?: number; readonly change?: number; readonly remove?: number };
}

const ALL_VERBS: readonly Verb[] = ['list', 'show', 'create', 'change', 'remove'];

/** A resource type, which lists, shows, creates, changes and deletes the resources of a specification. */
export class Resource implements ResourceType {
  readonly storage: Storage;
  readonly verbs: readonly Verb[];
  /** The verbs that only administrators may use. */
  readonly admin: readonly Verb[];
  #fields: Fields | undefined;
  #documentKeys: readonly string[] | undefined;

  constructor(
    readonly style: Style,
    readonly spec: ResourceSpec,
  ) {
    this.storage = spec.storage ?? documentStorage(this);
    this.verbs = spec.verbs ?? ALL_VERBS;
    this.admin = spec.admin ?? style.admin;
  }

  get fields(): Fields {
    this.#fields ??= this.spec.fields();
    return this.#fields;
  }

  /**
   * The name of the table in the document store. For catalog resources, the table contains only the fields that the
   * catalog does not store.
   */
  get table(): string {
    return `${this.style.service}/${this.spec.many}`;
  }

  get title(): string {
    return this.spec.title ?? this.spec.one.replaceAll('_', ' ').replace(/^./, (first) => first.toUpperCase());
  }

  get documentKeys(): readonly string[] {
    this.#documentKeys ??= Object.entries(this.fields).flatMap(([key, { inDocuments }]) => (inDocuments ? [key] : []));
    return this.#documentKeys;
  }

  isVisible(call: Call, doc: Doc): boolean {
    if (call.isAdmin) return true;
    if (this.spec.isVisible) return this.spec.isVisible(call, doc);
    if (doc.project_id === undefined || doc.project_id === call.caller.projectId) return true;
    return this.style.isShared?.(call, doc) ?? doc.shared === true;
  }

  /**
   * Returns a record. Throws the service's 404 error if the caller cannot see it, and its 403 error if the caller may
   * not use the verb.
   *
   * @param policy the name of the policy in the 403 error; default: derived from the verb
   */
  async find(call: Call, id: string, verb: Verb = 'show', policy?: string): Promise<Doc> {
    await this.spec.requireParent?.(call, verb);
    const authorizesFirst = !this.style.authorizesLast && !this.spec.revealsMissing?.includes(verb);
    if (authorizesFirst && this.admin.includes(verb)) this.style.authorize(call, this, verb, undefined, policy);
    const doc = await this.storage.get(call, id);
    if (!doc) throw this.style.errors.notFound(this, id, call, verb);
    this.style.authorize(call, this, verb, doc, policy);
    return doc;
  }

  async show(call: Call, doc: Doc): Promise<Wire> {
    const shown: Record<string, unknown> = { ...doc };
    if (this.documentKeys.length > 0) {
      const inDocuments = call.cloud.documents.table<Wire>(this.table).get(doc.id);
      for (const [key, field] of Object.entries(this.fields))
        if (field.inDocuments) shown[key] = inDocuments?.[key] ?? shown[key] ?? defaultOf(field, call);
    }
    Object.assign(shown, await this.spec.shows?.(call, doc));
    const minor = this.style.minor?.(call) ?? 0;
    for (const [key, { hidden, admin, since = 0 }] of Object.entries(this.fields))
      if (hidden || since > minor || (admin === 'read' && !call.isAdmin)) delete shown[key];
    return this.style.show(call, this, shown);
  }

  async list(call: Call): Promise<readonly Wire[]> {
    await this.spec.requireParent?.(call, 'list');
    this.style.authorize(call, this, 'list', undefined);
    this.spec.checkListing?.(call);
    const docs = await this.storage.list(call);
    const listedDocs = docs.filter(
      (doc) => (this.spec.lists?.(call, doc) ?? true) && (this.style.matchesHiddenFields?.(call, this, doc) ?? true),
    );
    return Promise.all(listedDocs.map((doc) => this.show(call, doc)));
  }

  /** Throws a 403 error if the caller may not create a resource, or 404 if it also cannot see the resource's source. */
  async #authorizeCreation(call: Call, values: Wire): Promise<void> {
    try {
      this.style.authorize(call, this, 'create', undefined);
    } catch (error) {
      await this.spec.requireSource?.(call, values);
      throw error;
    }
  }

  /** Creates a resource from validated fields. */
  async createValidated(call: Call, values: Wire): Promise<Wire> {
    await this.#authorizeCreation(call, values);
    await this.spec.requireParent?.(call, 'create');
    const stampedValues = this.style.stamp(call, this, withDefaults(call, this, values), undefined);
    const extra = await this.spec.creating?.(call, stampedValues, this);
    const completeValues = { ...stampedValues, ...extra };
    const doc = await this.storage.create(call, this.#withoutExtraFields(completeValues));
    this.#storeExtraFields(call, doc.id, completeValues);
    this.spec.created?.(call, doc);
    return this.show(call, doc);
  }

  async create(call: Call, body: unknown): Promise<Wire> {
    if (this.spec.authorizesFirst) this.style.authorize(call, this, 'create', undefined);
    return this.createValidated(call, readFields(call, this, 'create', body));
  }

  /** Creates all resources or none. If one cannot be created, those already created are removed. */
  async createAll(call: Call, bodies: readonly unknown[]): Promise<readonly Wire[]> {
    const validated = bodies.map((body) => readFields(call, this, 'create', body));
    const createdResources: Wire[] = [];
    try {
      for (const values of validated) createdResources.push(await this.createValidated(call, values));
    } catch (error) {
      for (const { id } of createdResources.reverse())
        await this.storage.remove(call, await this.find(call, String(id)));
      throw error;
    }
    return createdResources;
  }

  async change(call: Call, id: string, body: unknown): Promise<Wire> {
    const readChange = () => readFields(call, this, 'change', body);
    const values = this.style.authorizesLast && readChange();
    const before = await this.find(call, id, 'change');
    return this.apply(call, before, values ?? readChange());
  }

  /** Changes validated fields of a record. */
  async apply(call: Call, before: Doc, values: Wire): Promise<Wire> {
    this.style.precondition?.(call, this, await this.show(call, before));
    const extra = await this.spec.changing?.(call, before, values);
    const change = this.style.stamp(call, this, { ...values, ...extra }, before);
    const doc = await this.storage.update(call, before, this.#withoutExtraFields(change));
    this.#storeExtraFields(call, doc.id, change);
    return this.show(call, doc);
  }

  async remove(call: Call, id: string): Promise<void> {
    const doc = await this.find(call, id, 'remove');
    this.style.precondition?.(call, this, await this.show(call, doc));
    await this.spec.removing?.(call, doc);
    await this.storage.remove(call, doc);
    if (this.documentKeys.length > 0) call.cloud.documents.table(this.table).delete(id);
  }

  #withoutExtraFields(wire: Wire): Wire {
    if (this.documentKeys.length === 0) return wire;
    return Object.fromEntries(Object.entries(wire).filter(([key]) => !this.documentKeys.includes(key)));
  }

  #storeExtraFields(call: Call, id: string, wire: Wire): void {
    const extraFields = Object.entries(wire).filter(([key]) => this.documentKeys.includes(key));
    if (extraFields.length === 0) return;
    const table = call.cloud.documents.table<Wire>(this.table);
    table.set(id, { ...table.get(id), ...Object.fromEntries(extraFields) });
  }
}
