import type { Call } from '../service/call.js';
import { filterByTags, matchesComparator, matchesValue } from '../service/filter.js';
import { pageAfter, pageUrl } from '../service/listing.js';
import { badRequest, notFound } from '../service/service-error.js';
import type { ResourceType, Style } from '../service/style.js';
import type { Wire } from '../service/wire.js';
import { authorize, isAuthorized } from './authorize.js';
import { forbiddenAction, tokenDomain } from './delegation.js';
import { newId } from './new-id.js';
import { requestedAction } from './record-policy.js';

/** The names of records in 404 errors, for resources whose name is not derived from their key. */
const RECORD_NAMES: Readonly<Record<string, (id: string, call: Call) => string>> = {
  endpoint_group: (id) => `Endpoint Group: ${id}`,
  identity_provider: (id) => `Identity Provider: ${id}`,
  limit: (id) => `limit for ${id}`,
  protocol: (id, call) => `federated protocol ${id} for Identity Provider: ${call.param('idp_id')}`,
  registered_limit: (id) => `registered limit for ${id}`,
  service_provider: (id) => `Service Provider: ${id}`,
};

/** The resources that accept an update request without fields. */
const EMPTY_CHANGE_RESOURCES = ['project', 'limit', 'registered_limit'];

/** Applies the list's supported filters, with or without a comparator (`name__icontains`). Ignores other parameters. */
function filterItems(call: Call, { spec }: ResourceType, items: readonly Wire[]): readonly Wire[] {
  const filterNames = spec.filters ?? [];
  const conditions = [...call.query].flatMap(([parameter, value]) => {
    if (filterNames.includes(parameter)) return [(item: Wire) => matchesValue(item[parameter], value)];
    const [name = '', comparator] = parameter.split('__', 2);
    if (!comparator || !filterNames.includes(name)) return [];
    return [(item: Wire) => matchesComparator(item[name], comparator, value) ?? true];
  });
  const matching = items.filter((item) => conditions.every((holds) => holds(item)));
  return spec.tags ? filterByTags(matching, call.query) : matching;
}

/** The field that contains an item's domain, for each list that a domain-scoped token restricts. */
const DOMAIN_FIELDS: Readonly<Record<string, string>> = {
  domains: 'id',
  groups: 'domain_id',
  projects: 'domain_id',
  users: 'domain_id',
};

/** Returns the items in the domain of a domain-scoped token; all items if the token has another scope. */
export function filterByTokenDomain(call: Call, many: string, items: readonly Wire[]): readonly Wire[] {
  const { [many]: field } = DOMAIN_FIELDS;
  const domain = field && tokenDomain(call);
  return domain ? items.filter((item) => item[field] === domain) : items;
}

/** Adds a `self` link to an item that has an ID and does not already contain links. */
function withLinks(call: Call, many: string, item: Wire): Wire {
  return item.id === undefined || item.links
    ? item
    : { ...item, links: { self: `${call.base}/v3/${many}/${item.id}` } };
}

/** Returns a page of items in the identity service's list envelope. */
export function listOf(many: string, call: Call, items: readonly Wire[]): Wire {
  const limit = call.number('limit') || undefined;
  const pageResult = pageAfter(items, { limit, marker: call.text('marker') });
  if (!pageResult) throw notFound(`Marker ${call.text('marker')} could not be found.`);
  const { more, last } = pageResult;
  const page = pageResult.page.map((item) => withLinks(call, many, item));
  const next = more && last !== undefined ? pageUrl(call, last) : null;
  return { [many]: page, links: { self: `${call.cloudBase}${call.req.originalUrl}`, previous: null, next } };
}

/** The API conventions of the identity service, version 3. */
export const identityStyle: Style = {
  service: 'identity',
  root: '/v3',
  change: 'patch',
  statuses: { create: 201, remove: 204 },
  newId,
  unknownFields: 'keep',
  readOnlyFields: 'ignore',
  bulk: false,
  admin: [],

  authorize(call, { spec }, verb, doc) {
    const { action, target } = requestedAction(call, spec, verb, doc);
    authorize(call, action, target);
  },
  isShared: () => true,
  authorizeFields(call, { spec }, verb) {
    const requested = verb === 'change' && (call.req.body as Readonly<Record<string, Wire | undefined>>)[spec.one];
    if (!requested) return;
    if (Object.keys(requested).length === 0 && !EMPTY_CHANGE_RESOURCES.includes(spec.one))
      throw badRequest('{} should be non-empty');
    if (requested.id != null && requested.id !== call.param('id')) throw badRequest('Cannot change ID');
  },
  stamp: (_call, _resource, doc) => doc,
  show(call, { spec }, wire) {
    const path = spec.path.replaceAll(/:(\w+)/g, (_, name: string) => call.param(name));
    return { ...wire, links: { self: `${call.base}/v3/${path}/${wire.id}`, ...(wire.links as Wire) } };
  },
  list: (call, resource, items) =>
    listOf(resource.spec.many, call, filterByTokenDomain(call, resource.spec.many, filterItems(call, resource, items))),

  errors: {
    noBody: ({ spec }) => badRequest(`Expecting to find ${spec.one} in the request body.`),
    unknown: (_resource, keys) => badRequest(`Additional properties are not allowed ('${keys.join("', '")}')`),
    readOnly: (_resource, key) => badRequest(`Cannot change ${key}`),
    missing: (_resource, key) => badRequest(`'${key}' is a required property`),
    invalid: (_resource, key, value, reason) =>
      badRequest(
        `Invalid input for field/attribute ${key}. Value: ${typeof value === 'string' ? value : JSON.stringify(value)}. ${reason}`,
      ),
    notFound({ spec, title }, id, call, verb) {
      const { action } = requestedAction(call, spec, verb, undefined);
      // Callers who may not read a record do not learn whether it exists, unless Keystone reveals this.
      if (!spec.revealsMissing?.includes(verb) && !isAuthorized(call, action))
        return forbiddenAction(`identity:${action}`);
      return notFound(`Could not find ${RECORD_NAMES[spec.one]?.(id, call) ?? `${title.toLowerCase()}: ${id}`}.`);
    },
  },
};
