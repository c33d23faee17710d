import type { Server } from '../../model/index.js';
import { traitsOf } from '../../scheduler/inventories.js';
import { NoValidHost } from '../../scheduler/no-valid-host.js';
import { flavorRequest, traitsOfImage } from '../../scheduler/requested-offer.js';
import type { ServerRun } from '../runner/server-run.js';

/** The image of a server, with the image properties that the server record stores. */
export type StoredImage = Pick<Server, 'imageId' | 'imageProperties' | 'kernelId' | 'ramdiskId'>;

const FORBIDDEN_TRAITS_MESSAGE =
  'Image traits are part of forbidden traits in flavor associated with the server. Either specify a different image during rebuild or create a new server with the specified image and a compatible flavor.';
const MISSING_TRAITS_MESSAGE =
  'Image traits cannot be satisfied by the current resource providers. Either specify a different image during rebuild or create a new server with the specified image.';

async function checkTraits({ core, server }: ServerRun, requiredTraits: readonly string[]): Promise<void> {
  const { forbidden } = flavorRequest(server.flavor);
  if (requiredTraits.some((trait) => forbidden.includes(trait)))
    throw new NoValidHost({ traits: 1 }, FORBIDDEN_TRAITS_MESSAGE);
  const { hosts } = await core.infrastructure.current();
  const host = hosts.get(server.host ?? '');
  const hostTraits = host && traitsOf(host.node);
  if (requiredTraits.some((trait) => !hostTraits?.has(trait)))
    throw new NoValidHost({ traits: 1 }, MISSING_TRAITS_MESSAGE);
}

/**
 * Checks that a server's host has the traits that a new image requires, because a rebuild does not move the server. If
 * the check fails, the server record is reset to the former image.
 *
 * @throws NoValidHost if the host lacks a required trait, or if the flavor forbids one
 */
export async function checkImageTraits(
  run: ServerRun,
  imageProperties: Readonly<Record<string, string>>,
  formerImage: StoredImage,
): Promise<void> {
  const requiredTraits = traitsOfImage(imageProperties);
  if (requiredTraits.length === 0) return;
  try {
    await run.step('conductor_rebuild_server', () => checkTraits(run, requiredTraits));
  } catch (error) {
    if (error instanceof NoValidHost) await run.update(formerImage);
    throw error;
  }
}
