import type { Image } from '@apistrata/catalogs';
import { badRequest } from '../../errors/rejection.js';
import { generatePassword } from '../../keys/generate-password.js';
import type { Server } from '../../model/index.js';
import { keepOnlyClaim } from '../../scheduler/server-claims.js';
import { claimDestination } from '../../server-migrations/destination.js';
import { movePortsAndVolumes } from '../../server-migrations/follow-server.js';
import { isVolumeBacked } from '../../servers/volumes/root-disk.js';
import { resolveRequestedHost } from '../hosts.js';
import { findUsableImage } from '../images/usable-image.js';
import { action } from '../runner/action.js';
import type { ServerRun } from '../runner/server-run.js';

/** A request to boot a server from another image, so that its disk can be repaired. */
export interface RescueRequest {
  readonly adminPassword?: string;
  /** Id of the rescue image. Default: the server's own image. */
  readonly imageId?: string;
  /** Name of the host on which the server is rescued. Default: the server's current host. */
  readonly host?: string;
  /** Whether a volume-backed server may be rescued if the rescue image supports it. */
  readonly mayBeVolumeBacked: boolean;
}

/** Arguments of the rescue job. */
export interface RescueArguments {
  readonly imageId: string;
  readonly adminPassword: string;
  /** Name of the host on which the server is rescued. Default: the server's current host. */
  readonly host?: string;
}

function checkVolumeBacked(server: Server, image: Image | undefined, isAllowed: boolean): void {
  if (!isVolumeBacked(server)) return;
  if (!isAllowed) throw badRequest(`Cannot rescue a volume-backed instance`);
  const { hw_rescue_bus: bus, hw_rescue_device: device } = image?.properties ?? {};
  if (bus === undefined && device === undefined)
    throw badRequest(`Requested rescue image '${image?.id ?? ''}' is not valid`);
}

async function moveToHost(run: ServerRun, host: string): Promise<void> {
  const { core } = run;
  const map = await core.infrastructure.hosts();
  await run.update({}, async (tx, server) => {
    if (server.host === host) return undefined;
    const destination = await claimDestination(tx, core, map, server, { flavor: server.flavor, host });
    await keepOnlyClaim(tx, server, undefined);
    return { claims: [destination.claim], host: destination.host, node: destination.node };
  });
  await movePortsAndVolumes(run);
}

/**
 * Boots a server from a rescue image, with the server's own disk attached. Returns the administrator password of the
 * rescue system.
 */
export const rescue = action({
  name: 'rescue',
  vmStates: ['active', 'stopped', 'error'],
  needs: 'rescue',
  lock: true,
  during: ['rescuing'],
  history: 'rescue',
  notifies: 'rescue',
  onFailure: 'error',
  begin: async (scope, request: RescueRequest) => {
    const { core, server } = scope;
    const imageId = request.imageId ?? server.imageId;
    const image = imageId === '' ? undefined : await findUsableImage(scope, imageId, 0);
    checkVolumeBacked(server, image, request.mayBeVolumeBacked);
    const host = await resolveRequestedHost(core, request.host, (name) =>
      badRequest(`Compute host ${name} could not be found.`),
    );
    const adminPassword = request.adminPassword ?? generatePassword();
    const args: RescueArguments = { imageId: image?.id ?? '', adminPassword, host: host?.name };
    return { arguments: args, result: () => adminPassword };
  },
  run: async (run) => {
    const { imageId, adminPassword, host } = run.arguments;
    if (host !== undefined) await run.step('conductor_rescue_server', () => moveToHost(run, host));
    await run.perform({ verb: 'rescue', imageId, adminPassword }, 'rescuing', 'compute_rescue_instance');
    await run.finish({ vmState: 'rescued', powerState: 1, launchedAt: run.core.clock.now() });
  },
});
