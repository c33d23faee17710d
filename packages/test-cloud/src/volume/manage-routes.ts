import { z } from 'zod';
import type { Call } from '../service/call.js';
import { sortItems } from '../service/listing.js';
import type { Resource } from '../service/resource.js';
import { accepted, get, post, type Route, serialized } from '../service/route.js';
import { badRequest, notFound } from '../service/service-error.js';
import { withoutFields } from '../service/view.js';
import type { Wire } from '../service/wire.js';
import { text } from '../service/wire-types.js';
import { acceptsVolumes, findPool } from './storage-pool.js';
import { hostOrCluster, invalidInput } from './volume-style.js';
import { boolean, metadata, object, uuid } from './wire-types.js';

type Kind = 'volume' | 'snapshot';

/** A volume or snapshot that was removed from management and is still in the pool. */
interface Unmanaged {
  readonly size: number;
  /** The name of a snapshot's volume in the pool. */
  readonly source?: string;
}

/** The names of volumes and snapshots in the pool. LVM reserves names that start with `snapshot`. */
const POOL_NAMES: Readonly<Record<Kind, (id: string) => string>> = {
  volume: (id) => `volume-${id}`,
  snapshot: (id) => `_snapshot-${id}`,
};

/** The reported size, in GiB, of managed volumes that the pool does not contain. */
const UNKNOWN_SIZE_GB = 1;

const ref = z.union([z.record(z.string(), z.unknown()), z.string()]);
const descriptionFields = { name: text.nullish(), description: text.nullish(), metadata: metadata.nullish() };
const Volume = object({
  volume: object({
    host: text.nullish(),
    cluster: text.nullish(),
    ref,
    volume_type: text.nullish(),
    availability_zone: text.nullish(),
    bootable: boolean.optional(),
    ...descriptionFields,
  }),
});
const Snapshot = object({ snapshot: object({ volume_id: uuid, ref: ref.nullable(), ...descriptionFields }) });

type Reference = z.infer<typeof ref> | null;

const unmanagedTable = ({ cloud }: Call, kind: Kind) => cloud.documents.table<Unmanaged>(`volume/unmanaged-${kind}s`);
const referenceName = (reference: Reference) =>
  String(typeof reference === 'string' ? reference : reference?.['source-name']);

/** Stores a record of a volume or snapshot that remains in the pool after its removal from management. */
export function markUnmanaged(
  call: Call,
  kind: Kind,
  id: string,
  { size, volumeId }: { size: number; volumeId?: string },
) {
  const source = volumeId === undefined ? undefined : POOL_NAMES.volume(volumeId);
  unmanagedTable(call, kind).set(POOL_NAMES[kind](id), { size, source });
}

/** Brings a volume or snapshot in the pool under management. Throws a 400 error if it is already managed. */
async function bringUnderManagement(call: Call, kind: Kind, reference: Reference): Promise<Unmanaged | undefined> {
  const name = referenceName(reference);
  if ((await managedEntries(call, kind)).some((entry) => entry.name === name))
    throw badRequest(`Invalid ${kind}: Unable to manage existing ${kind}. The ${kind} is already managed`);
  const table = unmanagedTable(call, kind);
  const unmanaged = table.get(name);
  table.delete(name);
  return unmanaged;
}

/** Throws an error unless `cinder-volume` runs on the host and is enabled. */
async function checkService(call: Call, host: string, missing: Error): Promise<void> {
  const pool = await findPool(call, host);
  if (!pool) throw missing;
  if (!acceptsVolumes(call, pool)) throw badRequest('Service is unavailable at this time.');
}

/** The routes that administrators use to bring existing volumes in a pool under management. */
export function manageVolumeRoutes(resource: Resource): readonly Route[] {
  async function manage(call: Call) {
    call.requireAdmin();
    const { host, cluster, ref: reference, bootable: _, ...fields } = call.body(Volume).volume;
    const hostName = hostOrCluster(call, { host, cluster }, 16);
    await checkService(call, hostName, badRequest(`${host ? 'Host' : 'Cluster'} '${hostName}' not found`));
    const unmanaged = await bringUnderManagement(call, 'volume', reference);
    const volume = await resource.create(call, { ...fields, size: unmanaged?.size ?? UNKNOWN_SIZE_GB });
    return accepted({ volume: resource.spec.views?.create?.(volume) });
  }
  return routesOf('volume', manage);
}

/** The routes that administrators use to bring existing snapshots of a volume under management. */
export function manageSnapshotRoutes(resource: Resource): readonly Route[] {
  async function manage(call: Call) {
    call.requireAdmin();
    const { ref: reference, ...fields } = call.body(Snapshot).snapshot;
    await bringUnderManagement(call, 'snapshot', reference);
    const snapshot = await resource.create(call, { ...fields, force: true });
    return accepted({ snapshot: resource.spec.views?.create?.(snapshot) });
  }
  return routesOf('snapshot', manage);
}

interface Entry extends Unmanaged {
  readonly name: string;
  /** The id of the volume or snapshot; undefined if it is not managed. */
  readonly id?: string;
}

async function managedEntries({ cloud, caller }: Call, kind: Kind): Promise<readonly Entry[]> {
  const { volumes } = cloud.catalogs;
  const records: readonly { readonly id: string; readonly sizeGb: number; readonly volumeId?: string }[] =
    kind === 'volume'
      ? await volumes.listVolumes(caller, { allProjects: true })
      : await volumes.listSnapshots(caller, { allProjects: true });
  return records.map(({ id, sizeGb, volumeId = '' }) => ({
    name: POOL_NAMES[kind](id),
    id,
    size: sizeGb,
    source: POOL_NAMES.volume(volumeId),
  }));
}

const summary = withoutFields('reason_not_safe', 'cinder_id', 'extra_info');

const entryView = (kind: Kind, { name, id, size, source }: Entry): Wire => ({
  reference: { 'source-name': name },
  size,
  safe_to_manage: id === undefined,
  reason_not_safe: id === undefined ? null : 'already managed',
  cinder_id: id ?? null,
  extra_info: null,
  ...(kind === 'snapshot' && { source_reference: { 'source-name': source } }),
});

/** Parses `sort`, or the older `sort_key` and `sort_dir`, as sort keys; default: `reference:desc`. */
function parseSortKeys({ query }: Call) {
  const sortParameter =
    query.get('sort') ?? `${query.get('sort_key') ?? 'reference'}:${query.get('sort_dir') ?? 'desc'}`;
  return sortParameter.split(',').map((part) => {
    const [key = '', direction = 'desc'] = part.trim().split(':');
    if (key !== 'reference' && key !== 'size') throw badRequest(`Invalid sort keys passed: ${key}`);
    if (direction !== 'asc' && direction !== 'desc') throw badRequest(`Invalid sort dirs passed: ${direction}`);
    return { key: key === 'reference' ? 'name' : key, descending: direction === 'desc' };
  });
}

/** Returns the name in a marker, which is a reference in JSON. */
function parseMarker(marker: string): string {
  try {
    return referenceName(ref.parse(JSON.parse(marker)));
  } catch {
    throw invalidInput(`marker ${marker} can not be analysed, please use json like format`);
  }
}

async function list(call: Call, kind: Kind, isDetailed: boolean): Promise<Wire> {
  call.requireAdmin();
  const host = hostOrCluster(call, { host: call.text('host'), cluster: call.text('cluster') }, 17);
  await checkService(call, host, notFound(`Service cinder-volume could not be found on host ${host}.`));
  const unmanagedEntries = [...unmanagedTable(call, kind)].map(([name, unmanaged]) => ({ name, ...unmanaged }));
  const entries = sortItems(
    [...(await managedEntries(call, kind)), ...unmanagedEntries].map((entry) => ({ ...entry })),
    parseSortKeys(call),
  );
  const marker = call.text('marker');
  const after = marker === undefined ? undefined : parseMarker(marker);
  const markerIndex = entries.findIndex(({ name }) => name === after);
  if (marker !== undefined && markerIndex < 0) throw invalidInput(`marker not found: ${marker}`);
  const startIndex = markerIndex + 1 + (call.number('offset') ?? 0);
  const shownEntries = entries
    .slice(startIndex, startIndex + (call.number('limit') ?? 1000))
    .map((entry) => entryView(kind, entry));
  return { [`manageable-${kind}s`]: isDetailed ? shownEntries : shownEntries.map(summary) };
}

/** Returns the routes, each with two paths: one until 3.7 and one since 3.8. */
const routesOf = (kind: Kind, manage: (call: Call) => Promise<unknown>): readonly Route[] =>
  [`/v3/os-${kind}-manage`, `/v3/manageable_${kind}s`].flatMap((path) => [
    get(path, (call) => list(call, kind, false)),
    get(`${path}/detail`, (call) => list(call, kind, true)),
    serialized('collection', post(path, manage)),
  ]);
