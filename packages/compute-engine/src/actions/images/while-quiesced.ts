import type { Core, ServerScope } from '../../core/core.js';
import type { DriverWork } from '../../drivers/driver.js';
import { badRequest, conflict } from '../../errors/refusal.js';
import type { Server } from '../../model/index.js';
import { isYes } from '../../resources/extra-specs/is-yes.js';
import { isHostDown } from '../hosts.js';

/** How long a guest is quiet when nobody says that it is to stay so: who wanted it may have died. */
const QUIET_SECONDS = 60;
const RENEW_MS = 20_000;
/** How long a host may take to have a guest quiet; whoever asked for the image waits for that. */
const ASK_MS = 30_000;

/** Why a guest that has to be quiet cannot be. */
async function refusal({ machines }: Core, server: Server): Promise<Error> {
  if (!machines.supports('quiesce', server)) return badRequest(`Quiescing is not supported in instance ${server.id}`);
  const obstacle = await machines.obstacle('quiesce', server).catch(() => null);
  if (obstacle?.code === 'NOT_SUPPORTED') return badRequest(obstacle.message);
  return conflict('Failed to quiesce instance: the files of its guest could not be kept at rest.');
}

/**
 * Does something while nothing of the guest's files is on its way to its volumes, where the image says that there is an agent
 * for that (`hw_qemu_guest_agent`). Where it cannot be so it is done all the same, unless the image requires it
 * (`os_require_quiesce`): then that is refused, also where the guest has gone on before the end.
 * @param by an id of what is done: several may want the guest to be quiet at a time
 */
export async function whileQuiesced<T>(
  { core, context, server }: ServerScope,
  action: string,
  by: string,
  body: () => Promise<T>,
): Promise<T> {
  const { os_require_quiesce, hw_qemu_guest_agent } = server.imageProperties;
  const required = isYes(os_require_quiesce);
  if (server.vmState !== 'active' || !(required || isYes(hw_qemu_guest_agent))) return body();
  const origin = { action, requestId: context.requestId };
  const tell = async (work: DriverWork) => {
    if (await isHostDown(core, server))
      throw conflict(`Compute service of ${server.host} is unavailable at this time.`);
    await core.machines.perform({ work, server, origin }, AbortSignal.timeout(ASK_MS));
  };
  const quiesce = (again: boolean) => tell({ verb: 'quiesce', by, seconds: QUIET_SECONDS, again });
  const able = core.machines.supports('quiesce', server);
  const quiet = able && (await quiesce(false).then(...OUTCOME));
  if (!quiet) {
    if (required) throw await refusal(core, server);
    return body();
  }
  const over = new AbortController();
  const make = async () => {
    try {
      const made = await body();
      if (required && !(await quiesce(true).then(...OUTCOME))) throw await refusal(core, server);
      return made;
    } finally {
      over.abort();
    }
  };
  try {
    const [made] = await Promise.all([make(), renew(core, over.signal, () => quiesce(true))]);
    return made;
  } finally {
    // Where this does not reach it, the guest goes on by itself.
    await tell({ verb: 'unquiesce', by }).catch(() => {});
  }
}

/** Whether something went well. */
const OUTCOME = [() => true, () => false] as const;

async function renew({ clock }: Core, over: AbortSignal, again: () => Promise<void>): Promise<void> {
  while (!over.aborted) {
    await clock.sleep(RENEW_MS, over).catch(() => {});
    if (!over.aborted) await again().catch(() => {});
  }
}
