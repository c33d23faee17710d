import type { Server } from '../../model/index.js';
import { traitsOf } from '../../scheduler/inventories.js';
import { NoValidHost } from '../../scheduler/no-valid-host.js';
import { flavorRequest, traitsOfImage } from '../../scheduler/requested-offer.js';
import type { ServerRun } from '../runner/server-run.js';

/** The image of a server, with the image properties that the server record stores. */
export type RecordedImage = Pick<Server, 'imageId' | 'imageProperties' | 'kernelId' | 'ramdiskId'>;

const FORBIDDEN =
  'Image traits are part of forbidden traits in flavor associated with the server. Either specify a different image during rebuild or create a new server with the specified image and a compatible flavor.';
const MISSING =
  'Image traits cannot be satisfied by the current resource providers. Either specify a different image during rebuild or create a new server with the specified image.';

async function check({ core, server }: ServerRun, required: readonly string[]): Promise<void> {
  const { forbidden } = flavorRequest(server.flavor);
  if (required.some((trait) => forbidden.includes(trait))) throw new NoValidHost({ traits: 1 }, FORBIDDEN);
  const { hosts } = await core.infrastructure.current();
  const host = server.host === null ? undefined : hosts.get(server.host);
  const offered = host && traitsOf(host.node);
  if (required.some((trait) => !offered?.has(trait))) throw new NoValidHost({ traits: 1 }, MISSING);
}

/**
 * Checks that a server's host has the traits that a new image requires, because a rebuild does not move the server. If
 * the check fails, the server record is reset to the former image.
 *
 * @throws NoValidHost if the host lacks a required trait, or the flavor forbids it
 */
export async function checkImageTraits(
  run: ServerRun,
  imageProperties: Readonly<Record<string, string>>,
  former: RecordedImage,
): Promise<void> {
  const required = traitsOfImage(imageProperties);
  if (required.length === 0) return;
  try {
    await run.step('conductor_rebuild_server', () => check(run, required));
  } catch (error) {
    if (error instanceof NoValidHost) await run.update(former);
    throw error;
  }
}
