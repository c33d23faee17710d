import { z } from 'zod';
import type { Call } from '../service/call.js';
import { del, get, put, Reply, type Route } from '../service/route.js';
import { badRequest } from '../service/service-error.js';
import { integerBetween } from '../service/wire-types.js';
import { countedRecords } from './pending-records.js';
import { invalidInput } from './volume-style.js';

const DEFAULT_LIMITS: Readonly<Record<string, number>> = {
  volumes: 10,
  snapshots: 10,
  gigabytes: 1000,
  per_volume_gigabytes: -1,
  backups: 10,
  backup_gigabytes: 1000,
  groups: 10,
};
/** The keys in quota sets that also exist for each volume type, with the type's name as a suffix. */
const KEYS_PER_TYPE = ['volumes', 'snapshots', 'gigabytes'] as const;

const QuotaSet = z.object({ quota_set: z.record(z.string(), z.unknown()) });
const QuotaClassSet = z.object({ quota_class_set: z.record(z.string(), z.unknown()) });
const limit = integerBetween(-1, 2 ** 31 - 1);

type Limits = Readonly<Record<string, number>>;

const table = ({ cloud }: Call) => cloud.documents.table<Limits>('volume/limits');
const classTable = ({ cloud }: Call) => cloud.documents.table<Limits>('volume/limit-classes');

async function typeNames({ cloud, caller }: Call): Promise<readonly string[]> {
  return (await cloud.catalogs.volumes.listTypes(caller)).map(({ name }) => name);
}

async function defaultsOf(call: Call, name = 'default'): Promise<Limits> {
  const types = await typeNames(call);
  const typeLimits = types.flatMap((type) => KEYS_PER_TYPE.map((kind) => [`${kind}_${type}`, -1] as const));
  return { ...DEFAULT_LIMITS, ...Object.fromEntries(typeLimits), ...classTable(call).get(name) };
}

/** Returns the limits of a project, including defaults. */
export async function limitsOf(call: Call, project: string): Promise<Limits> {
  return { ...(await defaultsOf(call)), ...table(call).get(project) };
}

/** Renames the limits of a volume type in the quotas of all projects and quota classes. */
export function renameLimits(call: Call, before: string, name: string): void {
  const newKeysByOldKey = new Map(KEYS_PER_TYPE.map((kind) => [`${kind}_${before}`, `${kind}_${name}`]));
  for (const documents of [table(call), classTable(call)])
    for (const [key, limits] of documents)
      if (Object.keys(limits).some((kind) => newKeysByOldKey.has(kind)))
        documents.set(
          key,
          Object.fromEntries(Object.entries(limits).map(([kind, value]) => [newKeysByOldKey.get(kind) ?? kind, value])),
        );
}

/** Returns the usage of a project, in total and by volume type. */
export async function usageOf(call: Call, project: string): Promise<Limits> {
  const { volumes: allVolumes, snapshots } = await countedRecords(call, project);
  const recordsOf = (name: string) =>
    [...call.cloud.documents.table<Record<string, unknown>>(`volume/${name}`).values()].filter(
      ({ project_id }) => project_id === project,
    );
  const sumSizes = (sizes: readonly number[]) => sizes.reduce((all, size) => all + size, 0);
  const used: Record<string, number> = {
    volumes: allVolumes.length,
    gigabytes: sumSizes([...allVolumes, ...snapshots].map(({ sizeGb }) => sizeGb)),
    snapshots: snapshots.length,
    backups: recordsOf('backups').length,
    backup_gigabytes: sumSizes(recordsOf('backups').map(({ size }) => Number(size))),
    groups: recordsOf('groups').length,
  };
  for (const type of await typeNames(call)) {
    const typeVolumes = allVolumes.filter(({ volumeType }) => volumeType === type);
    const volumeIds = new Set(typeVolumes.map(({ id }) => id));
    const typeSnapshots = snapshots.filter(({ volumeId }) => volumeIds.has(volumeId));
    used[`volumes_${type}`] = typeVolumes.length;
    used[`snapshots_${type}`] = typeSnapshots.length;
    used[`gigabytes_${type}`] = sumSizes([...typeVolumes, ...typeSnapshots].map(({ sizeGb }) => sizeGb));
  }
  return used;
}

/** Validates and returns the limits in a body. Throws a 400 error for unknown keys and invalid limits. */
function parseLimits(requested: Readonly<Record<string, unknown>>, limits: Limits): Limits {
  const requestedLimits = Object.entries(requested).filter(([name]) => !['id', 'tenant_id', 'force'].includes(name));
  return Object.fromEntries(
    requestedLimits.map(([name, value]) => {
      if (!Object.hasOwn(limits, name)) throw badRequest(`Bad key(s) in quota set: ${name}`);
      const parsedLimit = limit.safeParse(value);
      if (!parsedLimit.success)
        throw invalidInput(`'${name}' must be an integer of -1 or more, not ${JSON.stringify(value)}`);
      return [name, parsedLimit.data];
    }),
  );
}

/** The routes for projects' quotas, which `checkQuota` enforces. */
export function quotaRoutes(): readonly Route[] {
  function project(call: Call): string {
    const id = call.param('project');
    if (id !== call.caller.projectId) call.requireAdmin();
    return id;
  }

  return [
    get('/v3/os-quota-sets/:project', async (call) => {
      const id = project(call);
      const limits = await limitsOf(call, id);
      if (!call.flag('usage')) return { quota_set: { id, ...limits } };
      const used = await usageOf(call, id);
      const shownLimits = Object.entries(limits).map(([kind, value]) => [
        kind,
        { limit: value, in_use: used[kind] ?? 0, reserved: 0, allocated: 0 },
      ]);
      return { quota_set: { id, ...Object.fromEntries(shownLimits) } };
    }),
    get('/v3/os-quota-sets/:project/defaults', async (call) => ({
      quota_set: { id: project(call), ...(await defaultsOf(call)) },
    })),
    put('/v3/os-quota-sets/:project', async (call) => {
      call.requireAdmin();
      const id = call.param('project');
      const changed = parseLimits(call.body(QuotaSet).quota_set, await limitsOf(call, id));
      const used = await usageOf(call, id);
      // As in Cinder, only limits that were set previously are compared with the usage.
      for (const [key, value] of Object.entries(changed)) {
        const inUse = used[key] ?? 0;
        if (value !== -1 && value < inUse && table(call).get(id)?.[key] !== undefined)
          throw badRequest(
            `Quota ${key} limit must be equal or greater than existing resources. Current usage is ${inUse} and the requested limit is ${value}.`,
          );
      }
      table(call).set(id, { ...table(call).get(id), ...changed });
      return { quota_set: await limitsOf(call, id) };
    }),
    del('/v3/os-quota-sets/:project', (call) => {
      call.requireAdmin();
      table(call).delete(call.param('project'));
      return new Reply(200);
    }),
    get('/v3/os-quota-class-sets/:name', async (call) => {
      call.requireAdmin();
      return { quota_class_set: { id: call.param('name'), ...(await defaultsOf(call, call.param('name'))) } };
    }),
    put('/v3/os-quota-class-sets/:name', async (call) => {
      call.requireAdmin();
      const name = call.param('name');
      const defaults = await defaultsOf(call, name);
      const changed = parseLimits(call.body(QuotaClassSet).quota_class_set, defaults);
      classTable(call).set(name, { ...classTable(call).get(name), ...changed });
      return { quota_class_set: { ...defaults, ...changed } };
    }),
  ];
}
