import { randomUUID } from 'node:crypto';
import { type CreateArguments, create } from '../../actions/create/create.js';
import type { Context } from '../../context.js';
import type { Core } from '../../core.js';
import { badRequest, forbidden } from '../../errors.js';
import { usableFlavor } from '../../flavors/usable-flavor.js';
import { generatePassword } from '../../keys/generate-password.js';
import type { Keypair, Server } from '../../model/index.js';
import { admitServers, checkGroupMembers } from '../../quotas/server-quota.js';
import { addWork, recordBegun } from '../../runs/begin-action.js';
import type { Tx } from '../../store/database.js';
import { settled } from '../../store/settled.js';
import { compoundKey, tables } from '../../store/tables.js';
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
  const servers = await withReservedVolumes(core, context, firstId, boot, (tx, reserved) =>
    insertServers(
      core,
      tx,
      { ...plan, boot: reserved },
      { ...counts, most },
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
  counts: Counts,
  firstId: string,
  nextArguments: () => CreateArguments,
): Promise<readonly Server[]> {
  const { context, flavor, placement } = plan;
  const count = await admitServers(core, tx, context, { cores: flavor.vcpus, ram: flavor.memoryMb }, counts);
  if (placement.group) await checkGroupMembers(core, tx, context, placement.group.id, count);
  const now = core.clock.now();
  const made: Server[] = [];
  for (let index = 0; index < count; index++) {
    const id = index === 0 ? firstId : randomUUID();
    const jobId = randomUUID();
    const [server] = await settled([
      tables.servers.insert(tx, serverRecord(plan, id, jobId, index, count, now)),
      recordBegun(core, tx, create, context, { id }),
      addWork(core, tx, create, context, { id: jobId, serverId: id }, nextArguments()),
    ]);
    await core.events.changed(tx, undefined, server, context);
    made.push(server);
  }
  return made;
}
