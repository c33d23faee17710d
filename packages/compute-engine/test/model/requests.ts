import { actions, type BackgroundActionName, type RequestOf, rulesOf } from '../../src/actions/action-table.js';
import type { AnyAction } from '../../src/actions/runner/action.js';
import { checkAction } from '../../src/actions/runner/check-action.js';
import type { Context } from '../../src/core/context.js';
import type { Engine } from '../../src/engine/engine.js';
import { coreOf } from '../../src/engine/engine-core.js';
import type { Server } from '../../src/model/index.js';
import { defaultPreset } from '../../src/preset/preset.js';
import { tables } from '../../src/schema/tables.js';
import type { Random } from './random.js';

export const hosts = ['host1', 'host2', 'host3', 'host4'] as const;
const imageId = defaultPreset.images![0]!.id;

export interface Request {
  readonly engine: Engine;
  readonly context: Context;
  readonly id: string;
  readonly random: Random;
}

/** Actions that the walk omits: other tests cover creation and attachments. */
const OMITTED = [
  'create',
  'softDelete',
  'attachVolume',
  'detachVolume',
  'swapVolume',
  'extendVolume',
  'attachInterface',
  'detachInterface',
  'attachShare',
  'detachShare',
] as const satisfies readonly BackgroundActionName[];

/** The name of an action with a definition, or of one of the two actions for locks. */
export type WalkedName = Exclude<BackgroundActionName, (typeof OMITTED)[number]> | 'lock' | 'unlock';

const optionalHost = (random: Random) => (random.chance(0.3) ? random.pick(hosts) : undefined);

async function numberOfLiveMigration({ engine, id }: Request): Promise<string> {
  const [migration] = await tables.migrations.find(coreOf(engine).store, (q) =>
    q.where('server_id', '=', id).where('type', '=', 'live-migration').orderBy('seq', 'desc').limit(1),
  );
  return String(migration?.seq ?? 0);
}

type WithRequest = {
  [Name in Exclude<WalkedName, 'lock' | 'unlock'> as RequestOf<Name> extends void ? never : Name]: Name;
};

/** The requests of the actions that require one. If an action is missing, this does not compile. */
const requestArguments: {
  readonly [Name in keyof WithRequest]: (request: Request) => RequestOf<Name> | Promise<RequestOf<Name>>;
} = {
  rescue: ({ random }) => ({ mayBeVolumeBacked: true, host: optionalHost(random) }),
  rebuild: () => ({ imageId, mayReimage: true }),
  resize: ({ random }) => ({ flavorId: random.pick(['1', '2', '3']) }),
  migrate: ({ random }) => ({ host: optionalHost(random) }),
  createImage: () => ({ name: 'copy', limitMetadata: false }),
  createBackup: ({ random }) => ({
    name: 'backup',
    backupType: 'daily',
    rotation: random.below(3),
    limitMetadata: false,
  }),
  changePassword: () => ({ adminPassword: 'secret' }),
  unshelve: ({ random }) => ({ host: optionalHost(random) }),
  'os-migrateLive': ({ random }) => ({ host: optionalHost(random), checkedFirst: random.chance(0.5) }),
  live_migration_cancel: async (request) => ({
    migrationNumber: await numberOfLiveMigration(request),
    statuses: ['queued', 'preparing', 'running'],
  }),
  live_migration_force_complete: async (request) => ({ migrationNumber: await numberOfLiveMigration(request) }),
  evacuate: ({ random }) => ({ host: optionalHost(random), stop: random.chance(0.3) }),
  'os-resetState': ({ random }) => ({ state: random.pick(['active', 'error']) }),
};

const walked: readonly AnyAction[] = actions.filter(({ name }) => !OMITTED.some((other) => other === name));

type Make = (request: Request) => Promise<unknown>;

/** Functions that start each action. Most use the action's definition; deletion and locks have separate methods. */
export const requests = {
  ...Object.fromEntries(
    walked.map((record): [string, Make] => [
      record.name,
      async (request) => {
        const { engine, context, id } = request;
        const make = (requestArguments as Readonly<Record<string, Make | undefined>>)[record.name];
        return engine.servers.act(context, id, record, await make?.(request));
      },
    ]),
  ),
  delete: ({ engine, context, id }) => engine.servers.delete(context, id),
  lock: ({ engine, context, id }) => engine.servers.lock(context, id, null),
  unlock: ({ engine, context, id }) => engine.servers.unlock(context, id),
} as Readonly<Record<WalkedName, Make>>;

/** Actions that are chosen rarely, because they end sequences early. */
const RARE: readonly WalkedName[] = ['delete', 'forceDelete', 'os-resetState', 'lock'];

/** Returns a random next action, usually one that is currently allowed. */
export function nextAction(random: Random, server: Server): WalkedName {
  const names = Object.keys(requests) as WalkedName[];
  const allowed = names.filter((name) => isAllowed(name, server));
  const picked = random.pick(allowed.length > 0 && random.chance(0.8) ? allowed : names);
  return RARE.includes(picked) && random.chance(0.8) ? nextAction(random, server) : picked;
}

function isAllowed(action: WalkedName, server: Server): boolean {
  try {
    checkAction(rulesOf(action), server, true);
    return true;
  } catch {
    return false;
  }
}
