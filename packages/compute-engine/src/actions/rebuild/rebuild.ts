import { compoundKey } from '@apistrata/record-store';
import type { ServerScope } from '../../core/core.js';
import { badRequest, forbidden } from '../../errors/rejection.js';
import { generatePassword } from '../../keys/generate-password.js';
import type { BlockDevice, Keypair, Server, ServerPatch, ServerSettings } from '../../model/index.js';
import { settingsIn } from '../../model/server-settings.js';
import { checkFlavorAndImage, checkSameTopology } from '../../resources/extra-specs/check-flavor-and-image.js';
import { checkMetadataQuota, limitsOf } from '../../resources/quotas/server-quota.js';
import { tables } from '../../schema/tables.js';
import { patchDevice } from '../../servers/volumes/patch-device.js';
import { isVolumeBacked } from '../../servers/volumes/root-disk.js';
import { connectVolume, waitUntilAvailable } from '../../servers/volumes/server-volumes.js';
import { findUsableImage } from '../images/usable-image.js';
import { action } from '../runner/action.js';
import type { ServerRun } from '../runner/server-run.js';
import { checkImageTraits, type StoredImage } from './check-image-traits.js';

/** A validated request to rebuild a server. Omitted fields stay unchanged. */
export interface RebuildRequest extends Partial<ServerSettings> {
  readonly imageId: string;
  readonly name?: string;
  readonly adminPassword?: string;
  readonly preserveEphemeral?: boolean;
  readonly diskConfig?: 'AUTO' | 'MANUAL';
  /** Files to write into the guest. Each `contents` is encoded in base64. */
  readonly files?: readonly { readonly path: string; readonly contents: string }[];
  /** Name of the new key pair. Null removes the server's key pair. */
  readonly keyName?: string | null;
  readonly hostname?: string;
  /** Whether a different image may be written to the root volume of a volume-backed server. */
  readonly mayReimage: boolean;
}

/** Arguments of the rebuild job. */
export interface RebuildArguments {
  readonly imageId: string;
  readonly adminPassword: string | null;
  readonly preserveEphemeral: boolean;
  readonly files: readonly { readonly path: string; readonly contents: string }[];
  /** Whether the job writes the image to the root volume of a volume-backed server. */
  readonly reimage: boolean;
  /** Properties of the new image, and the former image from the server record. Set only if the image changes. */
  readonly newImage?: { readonly properties: Server['imageProperties']; readonly former: StoredImage };
}

async function findKeypair(
  { core, context }: ServerScope,
  name: string | null | undefined,
): Promise<Keypair | null | undefined> {
  if (name === undefined || name === null) return name;
  const keypair = await tables.keypairs.get(core.store, compoundKey(context.caller.userId, name));
  if (!keypair) throw badRequest(`Invalid key_name provided.`);
  return keypair;
}

async function checkFiles(
  { core, context: { caller } }: ServerScope,
  files: NonNullable<RebuildRequest['files']>,
): Promise<void> {
  const limits = await limitsOf(core, core.store, caller.projectId, caller.userId);
  const exceedsLimit = (amount: number, limit: number) => limit >= 0 && amount > limit;
  if (exceedsLimit(files.length, limits.injected_files)) throw forbidden('Personality file limit exceeded');
  for (const { path, contents } of files) {
    if (exceedsLimit(Buffer.byteLength(path), limits.injected_file_path_bytes))
      throw forbidden('Personality file path exceeds maximum length');
    if (exceedsLimit(Buffer.byteLength(contents, 'base64'), limits.injected_file_content_bytes))
      throw forbidden('Personality content limit exceeded');
  }
}

/** Returns the root volume of a server, or undefined if the server is not volume-backed. */
function rootVolumeOf({ blockDevices }: Server): (BlockDevice & { readonly volumeId: string }) | undefined {
  for (const device of blockDevices) {
    const { bootIndex, volumeId } = device;
    if (bootIndex === 0 && volumeId !== null) return { ...device, volumeId };
  }
  return undefined;
}

/**
 * Returns the requested image, and whether the job must write it to the root volume. Throws a 400 error if the image or
 * the volume is invalid.
 */
async function checkRebuildImage(scope: ServerScope, request: RebuildRequest) {
  const { core, context, server } = scope;
  if (!isVolumeBacked(server)) return { image: await findUsableImage(scope, request.imageId), reimage: false };
  if (request.trustedCerts)
    throw badRequest('Image certificate validation is not supported for volume-backed servers.');
  const rootVolume = rootVolumeOf(server);
  const volume = rootVolume && (await core.catalogs.volumes.getVolume(context.caller, rootVolume.volumeId));
  const image = await findUsableImage(scope, request.imageId, volume?.sizeGb ?? 0);
  const reimage = volume !== undefined && volume.imageMetadata.image_id !== request.imageId;
  if (reimage && !request.mayReimage)
    throw badRequest('Unable to rebuild with a different image for a volume-backed server.');
  return { image, reimage };
}

/** Writes an image to the server's root volume. The volume is detached while the image is written. */
async function reimageRootVolume(run: ServerRun, imageId: string): Promise<void> {
  const { volumes } = run.core.catalogs;
  const { caller } = run.context;
  const rootVolume = rootVolumeOf(run.server);
  if (!rootVolume) throw new Error(`Server ${run.server.id} has no root volume.`);
  const { volumeId } = rootVolume;
  if (rootVolume.attachmentId) await volumes.deleteAttachment(caller, rootVolume.attachmentId);
  const { id: attachmentId } = await volumes.reserve(caller, {
    key: run.job.id,
    volumeId,
    serverId: run.server.id,
  });
  const changeRootDevice = (change: Partial<BlockDevice>) =>
    run.update({}, async (_tx, server) => patchDevice(server, rootVolume.id, change));
  await changeRootDevice({ attachmentId });
  await volumes.reimage(caller, volumeId, imageId);
  await waitUntilAvailable(run, volumeId);
  const { attachedAt } = await connectVolume(run, { ...rootVolume, attachmentId }, volumeId);
  await changeRootDevice({ attachedAt });
}

/**
 * Recreates a server's disk from the same image or another image. Returns the server and its new administrator
 * password.
 */
export const rebuild = action({
  name: 'rebuild',
  vmStates: ['active', 'stopped', 'error'],
  lock: true,
  rejectionWithShares: 'BAD_REQUEST',
  during: ['rebuilding', 'rebuild_block_device_mapping', 'rebuild_spawning'],
  history: 'rebuild',
  notifies: { accepted: 'rebuild_scheduled', startAndEnd: 'rebuild', failed: 'rebuild' },
  onFailure: 'error',
  begin: async (scope, request: RebuildRequest) => {
    const { image, reimage } = await checkRebuildImage(scope, request);
    const { flavor, imageId, imageProperties, kernelId, ramdiskId } = scope.server;
    checkFlavorAndImage(flavor, image);
    if (image.id !== imageId) checkSameTopology(flavor, { id: imageId, properties: imageProperties }, image);
    if (request.metadata) await checkMetadataQuota(scope.core, scope.context, Object.keys(request.metadata).length);
    if (request.files) await checkFiles(scope, request.files);
    const key = await findKeypair(scope, request.keyName);
    const adminPassword = request.adminPassword ?? generatePassword();
    const args: RebuildArguments = {
      imageId: image.id,
      adminPassword,
      preserveEphemeral: request.preserveEphemeral ?? false,
      files: request.files ?? [],
      reimage,
      ...((isVolumeBacked(scope.server) ? reimage : image.id !== imageId) && {
        newImage: { properties: image.properties, former: { imageId, imageProperties, kernelId, ramdiskId } },
      }),
    };
    const change = (_tx: unknown, current: Server): ServerPatch => ({
      ...(!isVolumeBacked(current) && {
        imageId: image.id,
        imageProperties: image.properties,
        kernelId: image.properties.kernel_id ?? '',
        ramdiskId: image.properties.ramdisk_id ?? '',
      }),
      ...settingsIn(request),
      name: request.name ?? current.name,
      diskConfig: request.diskConfig ?? current.diskConfig,
      keyName: key === undefined ? current.keyName : (key?.name ?? null),
      keyData: key === undefined ? current.keyData : (key?.publicKey ?? null),
      hostname: request.hostname ?? current.hostname,
      wasRunning: current.vmState !== 'stopped',
      progress: 0,
    });
    return { arguments: args, change, result: (server: Server) => ({ server, adminPassword }) };
  },
  run: async (run) => {
    const { imageId, adminPassword, preserveEphemeral, files, reimage, newImage } = run.arguments;
    const { wasRunning } = run.server;
    if (newImage) await checkImageTraits(run, newImage.properties, newImage.former);
    await run.passThrough(['rebuilding', 'rebuild_block_device_mapping']);
    if (reimage) await run.step('compute_reimage_boot_volume', () => reimageRootVolume(run, imageId));
    await run.perform(
      { verb: 'rebuild', imageId, adminPassword, preserveEphemeral, files },
      'rebuild_spawning',
      'compute_rebuild_instance',
    );
    if (!wasRunning) await run.perform({ verb: 'power_off' }, 'powering-off', 'compute_stop_instance');
    await run.finish({
      vmState: wasRunning ? 'active' : 'stopped',
      powerState: wasRunning ? 1 : 4,
      launchedAt: run.core.clock.now(),
      fault: null,
    });
  },
});
