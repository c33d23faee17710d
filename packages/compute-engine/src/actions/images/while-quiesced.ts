import type { Core, ServerScope } from '../../core/core.js';
import type { DriverWork } from '../../drivers/driver.js';
import { badRequest, conflict } from '../../errors/rejection.js';
import type { Server } from '../../model/index.js';
import { isTruthyString } from '../../resources/extra-specs/is-truthy-string.js';
import { isHostDown } from '../hosts.js';

/**
 * Time in seconds after which a freeze of the guest's file systems ends unless it is renewed. Without this limit, a
 * guest would stay frozen if this process crashed.
 */
const FREEZE_SECONDS = 60;
const RENEW_INTERVAL_MS = 20_000;
/** Timeout for freezing a guest's file systems. The request that creates the image waits for the freeze. */
const REQUEST_TIMEOUT_MS = 30_000;

/** Returns the error to throw if an image requires quiescing but the guest cannot be quiesced. */
async function createQuiesceError({ machines }: Core, server: Server): Promise<Error> {
  if (!machines.supports('quiesce', server)) return badRequest(`Quiescing is not supported in instance ${server.id}`);
  const obstacle = await machines.obstacle(server, 'quiesce').catch(() => null);
  if (obstacle?.code === 'NOT_SUPPORTED') return badRequest(obstacle.message);
  return conflict("Failed to quiesce instance: the guest's file systems could not be frozen.");
}

/**
 * Runs a function while the guest's file systems are frozen, if the server is active and its image declares a guest
 * agent (`hw_qemu_guest_agent`) or requires quiescing (`os_require_quiesce`). If freezing fails, the function runs
 * anyway. If the image requires quiescing, however, an error is thrown when freezing fails or when the guest resumes
 * before the function ends.
 * @param freezeId id of this freeze, which distinguishes it from other freezes of the same guest at the same time
 */
export async function runWhileQuiesced<T>(
  { core, context, server }: ServerScope,
  action: string,
  freezeId: string,
  body: () => Promise<T>,
): Promise<T> {
  const { os_require_quiesce, hw_qemu_guest_agent } = server.imageProperties;
  const isRequired = isTruthyString(os_require_quiesce);
  if (server.vmState !== 'active' || !(isRequired || isTruthyString(hw_qemu_guest_agent))) return body();
  const origin = { action, requestId: context.requestId };
  const perform = async (work: DriverWork) => {
    if (await isHostDown(core, server))
      throw conflict(`Compute service of ${server.host} is unavailable at this time.`);
    await core.machines.perform({ work, server, origin }, AbortSignal.timeout(REQUEST_TIMEOUT_MS));
  };
  const quiesce = (isRenewal: boolean) =>
    perform({ verb: 'quiesce', by: freezeId, seconds: FREEZE_SECONDS, again: isRenewal });
  const isSupported = core.machines.supports('quiesce', server);
  const isFrozen = isSupported && (await quiesce(false).then(...FULFILLMENT_CALLBACKS));
  if (!isFrozen) {
    if (isRequired) throw await createQuiesceError(core, server);
    return body();
  }
  const bodyEnded = new AbortController();
  const runBody = async () => {
    try {
      const result = await body();
      if (isRequired && !(await quiesce(true).then(...FULFILLMENT_CALLBACKS)))
        throw await createQuiesceError(core, server);
      return result;
    } finally {
      bodyEnded.abort();
    }
  };
  try {
    const [result] = await Promise.all([runBody(), renew(core, bodyEnded.signal, () => quiesce(true))]);
    return result;
  } finally {
    // If `unquiesce` fails, the guest resumes when the freeze expires.
    await perform({ verb: 'unquiesce', by: freezeId }).catch(() => {});
  }
}

/** Callbacks for `then` that return whether a promise was fulfilled. */
const FULFILLMENT_CALLBACKS = [() => true, () => false] as const;

async function renew({ clock }: Core, bodyEnded: AbortSignal, quiesce: () => Promise<void>): Promise<void> {
  while (!bodyEnded.aborted) {
    await clock.sleep(RENEW_INTERVAL_MS, bodyEnded).catch(() => {});
    if (!bodyEnded.aborted) await quiesce().catch(() => {});
  }
}
