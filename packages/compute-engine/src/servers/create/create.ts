import { randomUUID } from 'node:crypto';
import { awaitStatements, compoundKey, type Tx } from '@apistrata/record-store';
import { type CreateArguments, create, placeNewServer } from '../../actions/create/create.js';
import { addJob, recordStart } from '../../actions/runner/begin-action.js';
import type { Context } from '../../core/context.js';
import type { Core } from '../../core/core.js';
import { badRequest, forbidden } from '../../errors/rejection.js';
import { generatePassword } from '../../keys/generate-password.js';
import type { Keypair, Server } from '../../model/index.js';
import { findUsableFlavor } from '../../resources/flavors/usable-flavor.js';
import { admitServers, checkGroupMembers } from '../../resources/quotas/server-quota.js';
import type { HostMap } from '../../scheduler/infrastructure.js';
import { tables } from '../../schema/tables.js';
import { planBoot } from './create-boot.js';
import { checkItemQuota, countsOf, type ServerCounts } from './create-counts.js';
import { planNetworks } from './create-networks.js';
import { planPlacement } from './create-placement.js';
import { createServerRecord, diskConfigOf, generateReservationId, type ServerPlan } from './create-record.js';
import type { CreatedServers, NewServer } from './create-request.js';
import { runWithReservedVolumes } from './create-volumes.js';

export type { CreatedServers, NewServer } from './create-request.js';

async function findKeypair(
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
 * Validates a create request, and stores the servers with their action history and jobs in one transaction. The number
 * of servers is the largest number in the requested range that the quotas allow. Existing volumes are reserved first,
 * so that concurrent requests never use the same volume.
 */
export async function createServers(core: Core, context: Context, request: NewServer): Promise<CreatedServers> {
  const counts = countsOf(request);
  const flavor = await findUsableFlavor(core, context, request.flavorId);
  const keypair = await findKeypair(core, context, request.keyName);
  await checkItemQuota(core, context, request);
  const placement = await planPlacement(core, context, request);
  const boot = await planBoot(core, context, request, flavor);
  const diskConfig = diskConfigOf(request, boot);
  const network = await planNetworks(core, context, request);
  if (network.maxServers < counts.min) throw forbidden('Maximum number of ports exceeded');
  const max = Math.min(counts.max, network.maxServers);
  const nextPorts = await network.ports();

  const reservationId = generateReservationId();
  const adminPassword = request.adminPassword ?? generatePassword();
  const plan: ServerPlan = { context, request, flavor, keypair, boot, placement, diskConfig, reservationId };
  const firstId = randomUUID();
  const { host, forced } = placement;
  const args = { adminPassword, files: request.files ?? [], host, forced };
  const map = await core.infrastructure.hosts();
  const servers = await runWithReservedVolumes(core, context, firstId, boot, (tx, reserved) =>
    insertServers(
      core,
      tx,
      { ...plan, boot: reserved },
      map,
      { ...counts, max },
      firstId,
      (): CreateArguments => ({ ...args, ports: nextPorts() }),
    ),
  );
  return { servers, adminPassword, reservationId };
}

async function insertServers(
  core: Core,
  tx: Tx,
  plan: ServerPlan,
  map: HostMap,
  counts: ServerCounts,
  firstId: string,
  nextArguments: () => CreateArguments,
): Promise<readonly Server[]> {
  const { context, flavor, placement } = plan;
  const count = await admitServers(core, tx, context, { cores: flavor.vcpus, ram: flavor.memoryMb }, counts);
  if (placement.group) await checkGroupMembers(core, tx, context, placement.group.id, count);
  const now = core.clock.now();
  const newServers: Server[] = [];
  for (let index = 0; index < count; index++) {
    const id = index === 0 ? firstId : randomUUID();
    const jobId = randomUUID();
    const record = createServerRecord(plan, id, jobId, index, count, now);
    const args = nextArguments();
    // A claim locks its host until the commit, so capacity is claimed here only if the transaction stores a single
    // server.
    const initialPlacement = count === 1 ? await placeNewServer(core, tx, map, record, args) : undefined;
    const created = { ...record, ...initialPlacement?.patch };
    const [server] = await awaitStatements([
      tables.servers.insert(tx, created),
      recordStart(core, tx, create, context, { id }, initialPlacement?.events),
      addJob(core, tx, create, context, { id: jobId, serverId: id }, args),
      core.events.emitState(tx, undefined, created, context),
    ]);
    newServers.push(server);
  }
  return newServers;
}
