import type { Context } from '../../src/context.js';
import type { Engine } from '../../src/engine.js';
import { type ActionName, checkTransition, transitions } from '../../src/lifecycle/transitions.js';
import type { Server } from '../../src/model/index.js';
import { defaultPreset } from '../../src/preset/preset.js';
import { tables } from '../../src/store/tables.js';
import type { Random } from './random.js';

export const hosts = ['host1', 'host2', 'host3', 'host4'] as const;
const imageId = defaultPreset.images![0]!.id;

export interface Request {
  readonly engine: Engine;
  readonly context: Context;
  readonly id: string;
  readonly random: Random;
}

type Make = (request: Request) => Promise<unknown>;

/** Actions of the lifecycle table that are begun as they are. */
const plain = [
  'os-start',
  'os-stop',
  'rebootSoft',
  'rebootHard',
  'pause',
  'unpause',
  'suspend',
  'resume',
  'unrescue',
  'shelveOffload',
] as const satisfies readonly ActionName[];

async function liveMigrationOf(engine: Engine, context: Context, id: string) {
  const server = await engine.servers.get(context, id);
  const [migration] = await tables.migrations.find(engine.store, (q) =>
    q.where('server_id', '=', id).where('type', '=', 'live-migration').orderBy('seq', 'desc').limit(1),
  );
  return { server, number: String(migration?.seq ?? 0) };
}

const toggle = (random: Random, host: string | undefined = random.chance(0.3) ? random.pick(hosts) : undefined) => host;

/** How each action of the lifecycle table that owns its server is asked for. */
export const requests: Readonly<Partial<Record<ActionName, Make>>> = {
  ...Object.fromEntries(
    plain.map((name): [ActionName, Make] => [name, ({ engine, context, id }) => engine.servers.act(context, id, name)]),
  ),
  rescue: ({ engine, context, id, random }) =>
    engine.serverActions.rescue(context, id, { mayBeVolumeBacked: true, host: toggle(random) }),
  rebuild: ({ engine, context, id }) => engine.serverActions.rebuild(context, id, { imageId, mayReimage: true }),
  resize: ({ engine, context, id, random }) =>
    engine.serverActions.resize(context, id, { flavorId: random.pick(['1', '2', '3']) }),
  migrate: ({ engine, context, id, random }) => engine.serverActions.migrate(context, id, toggle(random)),
  confirmResize: ({ engine, context, id }) => engine.serverActions.confirmResize(context, id),
  revertResize: ({ engine, context, id }) => engine.serverActions.revertResize(context, id),
  createImage: ({ engine, context, id }) =>
    engine.serverActions.createImage(context, id, { name: 'copy', limitMetadata: false }),
  createBackup: ({ engine, context, id, random }) =>
    engine.serverActions.createBackup(context, id, {
      name: 'backup',
      backupType: 'daily',
      rotation: random.below(3),
      limitMetadata: false,
    }),
  changePassword: ({ engine, context, id }) => engine.serverActions.changePassword(context, id, 'secret'),
  shelve: ({ engine, context, id }) => engine.serverActions.shelve(context, id),
  unshelve: ({ engine, context, id, random }) =>
    engine.serverActions.unshelve(context, id, random.chance(0.3) ? { host: random.pick(hosts) } : {}),
  'os-migrateLive': ({ engine, context, id, random }) =>
    engine.serverActions.liveMigrate(context, id, { host: toggle(random), checkedFirst: random.chance(0.5) }),
  live_migration_cancel: async ({ engine, context, id }) => {
    const { server, number } = await liveMigrationOf(engine, context, id);
    await engine.migrations.abort(context, server, number, ['queued', 'preparing', 'running']);
  },
  live_migration_force_complete: async ({ engine, context, id }) => {
    const { server, number } = await liveMigrationOf(engine, context, id);
    await engine.migrations.forceComplete(context, server, number);
  },
  evacuate: ({ engine, context, id, random }) =>
    engine.serverActions.evacuate(context, id, { host: toggle(random), stop: random.chance(0.3) }),
  restore: ({ engine, context, id }) => engine.serverActions.restore(context, id),
  forceDelete: ({ engine, context, id }) => engine.servers.forceDelete(context, id),
  delete: ({ engine, context, id }) => engine.servers.delete(context, id),
  trigger_crash_dump: ({ engine, context, id }) => engine.serverActions.triggerCrashDump(context, id),
  'os-resetState': ({ engine, context, id, random }) =>
    engine.serverActions.resetState(context, id, random.pick(['active', 'error'])),
  injectNetworkInfo: ({ engine, context, id }) => engine.serverActions.injectNetworkInfo(context, id),
  lock: ({ engine, context, id }) => engine.servers.lock(context, id, null),
  unlock: ({ engine, context, id }) => engine.servers.unlock(context, id),
};

/** Rare ones end sequences early, so they come up less often than the others. */
const RARE: readonly ActionName[] = ['delete', 'forceDelete', 'os-resetState', 'lock'];

/** What a random owner or operator does next: mostly something that the table allows just now. */
export function nextAction(random: Random, server: Server): ActionName {
  const names = Object.keys(requests) as ActionName[];
  const allowed = names.filter((name) => isAllowed(name, server));
  const picked = random.pick(allowed.length > 0 && random.chance(0.8) ? allowed : names);
  return RARE.includes(picked) && random.chance(0.8) ? nextAction(random, server) : picked;
}

function isAllowed(action: ActionName, server: Server): boolean {
  try {
    checkTransition(action, server, true);
    return true;
  } catch {
    return false;
  }
}

/** Actions of the table that the walk does not ask for: they belong to the tests of attachments, metadata and tags. */
export const notWalked = (Object.keys(transitions) as ActionName[]).filter((name) => !(name in requests));
