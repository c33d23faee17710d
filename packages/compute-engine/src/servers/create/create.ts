import { randomUUID } from 'node:crypto';
import { compoundKey, settled, type Tx } from '@apistrata/record-store';
import { type CreateArguments, create, type PlacedAtOnce, placeAtOnce } from '../../actions/create/create.js';
import { addWork, recordBegun } from '../../actions/runner/begin-action.js';
import { ServerRun } from '../../actions/runner/server-run.js';
import type { Context } from '../../core/context.js';
import type { Core } from '../../core/core.js';
import { badRequest, forbidden } from '../../errors/refusal.js';
import type { JobPayload } from '../../jobs/payloads.js';
import { generatePassword } from '../../keys/generate-password.js';
import type { Keypair, New, Server } from '../../model/index.js';
import { usableFlavor } from '../../resources/flavors/usable-flavor.js';
import { admitServers, checkGroupMembers } from '../../resources/quotas/server-quota.js';
import type { HostMap } from '../../scheduler/infrastructure.js';
import { tables } from '../../schema/tables.js';
import { planBoot } from './create-boot.js';
import { type Counts, checkItemQuota, countsOf } from './create-counts.js';
import { planNetworks } from './create-networks.js';
import { planPlacement } from './create-placement.js';
import { diskConfigOf, newReservationId, type ServerPlan, serverRecord } from './create-record.js';
import type { CreatedServers, NewServer } from './create-request.js';
import { withReservedVolumes } from './create-volumes.js';

export type { CreatedServers, NewServer } from './create-request.js';

async function keypairFor(
  { store }: Core,
  { caller }: Context,
  name: string | undefined,
): Promise<Keypair | undefined> {
  if (name === undefined) return undefined;
  const keypair = await tables.keypairs.get(store, compoundKey(caller.userId, name));
  if (!keypair) throw badRequest('Invalid key_name provided.');
  return keypair;
}

/**
 * Checks a request for servers and writes them down, with their history and their jobs, in one transaction: as many as
 * quotas allow between the least and the most asked for. Volumes that exist are reserved before, so that two requests
 * never get the same one.
 */
export async function createServers(core: Core, context: Context, request: NewServer): Promise<CreatedServers> {
  const counts = countsOf(request);
  const flavor = await usableFlavor(core, context, request.flavorId);
  const keypair = await keypairFor(core, context, request.keyName);
  await checkItemQuota(core, context, request);
  const placement = await planPlacement(core, context, request);
  const boot = await planBoot(core, context, request, flavor);
  const diskConfig = diskConfigOf(request, boot);
  const network = await planNetworks(core, context, request);
  if (network.mostServers < counts.least) throw forbidden('Maximum number of ports exceeded');
  const most = Math.min(counts.most, network.mostServers);
  const nextPorts = await network.ports();

  const reservationId = newReservationId();
  const adminPassword = request.adminPassword ?? generatePassword();
  const plan: ServerPlan = { context, request, flavor, keypair, boot, placement, diskConfig, reservationId };
  const firstId = randomUUID();
  const { host, forced } = placement;
  const args = { adminPassword, files: request.files ?? [], host, forced };
  const map = await core.infrastructure.hosts();
  const begunAt = performance.now();
  const { servers, done } = await withReservedVolumes(core, context, firstId, boot, (tx, reserved) =>
    insertServers(
      core,
      tx,
      { ...plan, boot: reserved },
      map,
      { ...counts, most },
      firstId,
      (): CreateArguments => ({ ...args, ports: nextPorts() }),
    ),
  );
  if (done) {
    await done.carryOut();
    const ms = performance.now() - begunAt;
    core.observer.job?.({ kind: create.name, outcome: 'done', attempt: 1, ms, waitedMs: 0 });
  }
  return { servers, adminPassword, reservationId };
}

/** Nobody ends what is done in the transaction of the request. */
const NEVER = new AbortController().signal;

/** What has no place in the database yet. */
const UNNUMBERED = { seq: 0, revision: 0 };

/** Has a new server come to life with its first write, where it can. */
async function atOnce(
  core: Core,
  tx: Tx,
  context: Context,
  map: HostMap,
  record: New<Server>,
  jobId: string,
  args: CreateArguments,
): Promise<PlacedAtOnce | undefined> {
  const payload = { context, arguments: args as unknown as JobPayload['arguments'] };
  const job = { id: jobId, kind: create.name, serverId: record.id, attempts: 1, dueAt: record.createdAt, payload };
  const run = new ServerRun<CreateArguments>(core, job, { ...record, ...UNNUMBERED }, NEVER, create);
  return placeAtOnce(tx, run, map);
}

async function insertServers(
  core: Core,
  tx: Tx,
  plan: ServerPlan,
  map: HostMap,
  counts: Counts,
  firstId: string,
  nextArguments: () => CreateArguments,
): Promise<{ readonly servers: readonly Server[]; readonly done?: PlacedAtOnce['done'] }> {
  const { context, flavor, placement } = plan;
  const count = await admitServers(core, tx, context, { cores: flavor.vcpus, ram: flavor.memoryMb }, counts);
  if (placement.group) await checkGroupMembers(core, tx, context, placement.group.id, count);
  const now = core.clock.now();
  const made: Server[] = [];
  let done: PlacedAtOnce['done'];
  for (let index = 0; index < count; index++) {
    const id = index === 0 ? firstId : randomUUID();
    const jobId = randomUUID();
    const record = serverRecord(plan, id, jobId, index, count, now);
    const args = nextArguments();
    // Hosts are kept from others from the moment on in which they are chosen: not while further servers are written.
    const placed = count === 1 ? await atOnce(core, tx, context, map, record, jobId, args) : undefined;
    done = placed?.done;
    const [server] = await settled([
      tables.servers.insert(tx, placed ? { ...record, ...placed.patch, updatedAt: now } : record),
      recordBegun(core, tx, create, context, { id }, done?.events),
      done ? undefined : addWork(core, tx, create, context, { id: jobId, serverId: id }, args),
    ]);
    await core.events.changed(tx, undefined, server, context);
    made.push(server);
  }
  return { servers: made, done };
}
