import type { Image } from '../../../catalogs/index.js';
import type { Context } from '../../../context.js';
import { badRequest } from '../../../errors.js';
import type { Server } from '../../../model/index.js';
import type { RescueArguments } from '../../../tasks/rescue.js';
import { isVolumeBacked } from '../../../volumes/root-disk.js';
import { generatePassword } from '../create.js';
import { type ActionScope, findHost, usableImage } from './scope.js';

export interface RescueRequest {
  readonly adminPassword?: string;
  /** Left out: the image that the server was made from. */
  readonly imageId?: string;
  /** Rescued there instead of where it is. */
  readonly host?: string;
  /** Whether a server whose root disk is a volume may be rescued, as long as the image says how. */
  readonly mayBeVolumeBacked: boolean;
}

/** Booting from another image to repair a server. */
export function rescueActions({ core, servers }: ActionScope) {
  function checkVolumeBacked(server: Server, image: Image | undefined, allowed: boolean): void {
    if (!isVolumeBacked(server)) return;
    if (!allowed) throw badRequest(`Cannot rescue a volume-backed instance`);
    const { hw_rescue_bus: bus, hw_rescue_device: device } = image?.properties ?? {};
    if (bus === undefined && device === undefined)
      throw badRequest(`Requested rescue image '${image?.id ?? ''}' is not valid`);
  }

  return {
    /** Resolves to the password of the rescued system. */
    async rescue(context: Context, id: string, wanted: RescueRequest): Promise<string> {
      const server = await servers.ready(context, id, 'rescue');
      const imageId = wanted.imageId ?? server.imageId;
      const image = imageId === '' ? undefined : await usableImage(core, context, imageId, server.flavor, 0);
      checkVolumeBacked(server, image, wanted.mayBeVolumeBacked);
      const host = wanted.host === undefined ? undefined : await findHost(core, wanted.host);
      if (wanted.host !== undefined && !host) throw badRequest(`Compute host ${wanted.host} could not be found.`);
      const adminPassword = wanted.adminPassword ?? generatePassword();
      const args: RescueArguments = { imageId: image?.id ?? '', adminPassword, host: host?.name };
      await servers.act(context, id, 'rescue', { arguments: { ...args } });
      return adminPassword;
    },
  };
}
