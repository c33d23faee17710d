import { z } from 'zod';
import type { Call } from '../service/call.js';
import { filtered, linkTo, pageOf } from '../service/listing.js';
import { created, del, get, noContent, patch, post, type Route } from '../service/route.js';
import { conflict, notFound } from '../service/service-error.js';
import { DEFAULT_DOMAIN, type Directory, newId } from './directory.js';
import type { Directory as Kinds, Named } from './identity-records.js';

/** How one kind of record is served. */
export interface CollectionSpec {
  readonly kind: keyof Kinds;
  /** The key of one on the wire. */
  readonly one: string;
  /** What a new one has that nobody named. */
  readonly defaults: (call: Call) => Readonly<Record<string, unknown>>;
  /** Fields that are never shown. */
  readonly hidden?: readonly string[];
  /** Whether somebody who is no administrator may see this one. */
  readonly ownedBy?: (record: Named, call: Call, directory: Directory) => boolean;
  /** What goes with one that is deleted. */
  readonly onDelete?: (directory: Directory, id: string) => void;
}

/** The list envelope of the identity service. */
export function listOf(kind: string, call: Call, items: readonly Readonly<Record<string, unknown>>[]) {
  const limit = call.number('limit') || undefined;
  const { page, more } = pageOf(items, { limit, marker: call.text('marker') }) ?? { page: [], more: false };
  const next = more ? linkTo(call, String(page.at(-1)!.id)) : null;
  const self = `${call.cloudBase}${call.req.originalUrl}`;
  return { [kind]: page, links: { self, previous: null, next } };
}

/** The five usual routes of one kind of record. */
export function collection(directory: Directory, spec: CollectionSpec): readonly Route[] {
  const { kind, one, hidden = [] } = spec;
  const table = () => directory.state[kind] as Map<string, Named>;
  const body = z.object({ [one]: z.looseObject({}) });

  function show(call: Call, record: Named) {
    const shown = Object.entries(record).filter(([field]) => !hidden.includes(field));
    return { ...Object.fromEntries(shown), links: { self: `${call.base}/v3/${kind}/${record.id}` } };
  }

  function find(call: Call): Named {
    const id = call.param('id');
    const record = table().get(id);
    const mine = record && spec.ownedBy?.(record, call, directory);
    if (!mine) call.requireAdmin();
    if (!record) throw notFound(`Could not find ${one}: ${id}.`);
    return record;
  }

  function refuseTakenName(name: unknown, domainId: unknown, except?: string): void {
    const taken = [...table().values()].some(
      (other) => other.name === name && other.domain_id === domainId && other.id !== except,
    );
    if (taken)
      throw conflict(
        `Conflict occurred attempting to store ${one} - it is not permitted to have two with the name ${name}.`,
      );
  }

  return [
    get(`/v3/${kind}`, (call) => {
      const all = [...table().values()];
      const visible = call.isAdmin ? all : all.filter((record) => spec.ownedBy?.(record, call, directory));
      if (!call.isAdmin && visible.length === 0) call.requireAdmin();
      const shown = visible.map((record) => show(call, record));
      return listOf(kind, call, filtered(shown, call.query, Object.keys(shown[0] ?? {})));
    }),
    post(`/v3/${kind}`, (call) => {
      call.requireAdmin();
      const given = (call.body(body) as Record<string, Record<string, unknown>>)[one]!;
      const record = { domain_id: DEFAULT_DOMAIN, ...spec.defaults(call), ...given, id: newId() } as unknown as Named;
      refuseTakenName(record.name, record.domain_id);
      table().set(record.id, record);
      return created({ [one]: show(call, record) });
    }),
    get(`/v3/${kind}/:id`, (call) => ({ [one]: show(call, find(call)) })),
    patch(`/v3/${kind}/:id`, (call) => {
      call.requireAdmin();
      const before = find(call);
      const given = (call.body(body) as Record<string, Record<string, unknown>>)[one]!;
      const record = { ...before, ...given, id: before.id } as Named;
      refuseTakenName(record.name, record.domain_id, record.id);
      table().set(record.id, record);
      return { [one]: show(call, record) };
    }),
    del(`/v3/${kind}/:id`, (call) => {
      call.requireAdmin();
      const { id } = find(call);
      table().delete(id);
      spec.onDelete?.(directory, id);
      return noContent();
    }),
  ];
}
