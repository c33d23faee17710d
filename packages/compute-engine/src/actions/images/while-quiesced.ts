import type { Core, ServerScope } from '../../core/core.js';
import type { DriverWork } from '../../drivers/driver.js';
import { badRequest, conflict } from '../../errors/rejection.js';
import type { Server } from '../../model/index.js';
import { isTruthyString } from '../../resources/extra-specs/is-truthy-string.js';
import { isHostDown } from '../hosts.js';

/** Duration of a freeze unless it is extended: its requester may have crashed. */
const FREEZE_SECONDS = 60;
const RENEW_MS = 20_000;
/** Timeout for freezing a guest, while the request for the image waits. */
const REQUEST_TIMEOUT_MS = 30_000;

/** Returns the error if a guest that must be quiesced cannot be. */
async function rejection({ machines }: Core, server: Server): Promise<Error> {
  if (!machines.supports('quiesce', server)) return badRequest(`Quiescing is not supported in instance ${server.id}`);
  const obstacle = await machines.obstacle(server, 'quiesce').catch(() => null);
  if (obstacle?.code === 'NOT_SUPPORTED') return badRequest(obstacle.message);
  return conflict('Failed to quiesce instance: the file systems of its guest could not be frozen.');
}

/**
 * Runs a function while the guest's file systems are frozen, if the image declares a guest agent (`hw_qemu_guest_agent`). If
 * freezing fails, the function runs anyway, unless the image requires a frozen guest (`os_require_quiesce`). In that case the
 * call is rejected, even if the guest resumes before the function ends.
 * @param by id of the freeze: several requesters may freeze a guest at the same time
 */
export async function whileQuiesced<T>(
  { core, context, server }: ServerScope,
  action: string,
  by: string,
  body: () => Promise<T>,
): Promise<T> {
  const { os_require_quiesce, hw_qemu_guest_agent } = server.imageProperties;
  const required = isTruthyString(os_require_quiesce);
  if (server.vmState !== 'active' || !(required || isTruthyString(hw_qemu_guest_agent))) return body();
  const origin = { action, requestId: context.requestId };
  const perform = async (work: DriverWork) => {
    if (await isHostDown(core, server))
      throw conflict(`Compute service of ${server.host} is unavailable at this time.`);
    await core.machines.perform({ work, server, origin }, AbortSignal.timeout(REQUEST_TIMEOUT_MS));
  };
  const quiesce = (again: boolean) => perform({ verb: 'quiesce', by, seconds: FREEZE_SECONDS, again });
  const able = core.machines.supports('quiesce', server);
  const frozen = able && (await quiesce(false).then(...OUTCOME));
  if (!frozen) {
    if (required) throw await rejection(core, server);
    return body();
  }
  const over = new AbortController();
  const make = async () => {
    try {
      const result = await body();
      if (required && !(await quiesce(true).then(...OUTCOME))) throw await rejection(core, server);
      return result;
    } finally {
      over.abort();
    }
  };
  try {
    const [result] = await Promise.all([make(), renew(core, over.signal, () => quiesce(true))]);
    return result;
  } finally {
    // If this command is lost, the guest resumes by itself.
    await perform({ verb: 'unquiesce', by }).catch(() => {});
  }
}

/** Maps a settled promise to success or failure. */
const OUTCOME = [() => true, () => false] as const;

async function renew({ clock }: Core, over: AbortSignal, again: () => Promise<void>): Promise<void> {
  while (!over.aborted) {
    await clock.sleep(RENEW_MS, over).catch(() => {});
    if (!over.aborted) await again().catch(() => {});
  }
}
