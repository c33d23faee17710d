import type { Context } from '../../../context.js';
import { badRequest, forbidden } from '../../../errors.js';
import type { Keypair, Server, ServerPatch } from '../../../model/index.js';
import { limitsOf } from '../../../quotas/server-quota.js';
import { compoundKey, tables } from '../../../store/tables.js';
import type { RebuildArguments } from '../../../tasks/rebuild.js';
import { isVolumeBacked } from '../../../volumes/root-disk.js';
import { generatePassword } from '../create.js';
import { type ActionScope, checkMetadataQuota, usableImage } from './scope.js';

/** A request to rebuild, after the schema has been checked. What is left out stays as it is. */
export interface RebuildRequest {
  readonly imageId: string;
  readonly name?: string;
  readonly adminPassword?: string;
  /** Replaces all of it. */
  readonly metadata?: Readonly<Record<string, string>>;
  readonly preserveEphemeral?: boolean;
  readonly diskConfig?: 'AUTO' | 'MANUAL';
  readonly accessIpV4?: string;
  readonly accessIpV6?: string;
  readonly files?: readonly { readonly path: string; readonly contents: string }[];
  readonly description?: string | null;
  /** Null removes the key. */
  readonly keyName?: string | null;
  readonly userData?: string | null;
  readonly trustedCerts?: readonly string[] | null;
  readonly hostname?: string;
  /** Whether the root volume of a volume-backed server may get another image. */
  readonly mayReimage: boolean;
}

/** Gives a server a fresh disk, of the same image or of another one. */
export function rebuildActions({ core, servers }: ActionScope) {
  async function keyOf({ caller }: Context, name: string | null | undefined): Promise<Keypair | null | undefined> {
    if (name === undefined || name === null) return name;
    const keypair = await tables.keypairs.get(core.store, compoundKey(caller.userId, name));
    if (!keypair) throw badRequest(`Invalid key_name provided.`);
    return keypair;
  }

  async function checkFiles({ caller }: Context, files: NonNullable<RebuildRequest['files']>): Promise<void> {
    const limits = await limitsOf(core, core.store, caller.projectId, caller.userId);
    const beyond = (limit: number, amount: number) => limit >= 0 && amount > limit;
    if (beyond(limits.injected_files, files.length)) throw forbidden('Personality file limit exceeded');
    for (const { path, contents } of files) {
      if (beyond(limits.injected_file_path_bytes, Buffer.byteLength(path)))
        throw forbidden('Personality file path exceeds maximum length');
      if (beyond(limits.injected_file_content_bytes, Buffer.byteLength(contents, 'base64')))
        throw forbidden('Personality content limit exceeded');
    }
  }

  /** Whether the root volume gets another image; the 400s of images and volumes that do not fit. */
  async function checkImage(context: Context, server: Server, wanted: RebuildRequest) {
    if (!isVolumeBacked(server)) {
      return { image: await usableImage(core, context, wanted.imageId, server.flavor), reimage: false };
    }
    if (wanted.trustedCerts)
      throw badRequest('Image certificate validation is not supported for volume-backed servers.');
    const root = server.blockDevices.find(({ bootIndex, volumeId }) => bootIndex === 0 && volumeId !== null);
    const volume = root && (await core.catalogs.volumes.getVolume(context.caller, root.volumeId!));
    const image = await usableImage(core, context, wanted.imageId, server.flavor, volume?.sizeGb ?? 0);
    const reimage = volume !== undefined && volume.imageMetadata.image_id !== wanted.imageId;
    if (reimage && !wanted.mayReimage)
      throw badRequest('Unable to rebuild with a different image for a volume-backed server.');
    return { image, reimage };
  }

  return {
    async rebuild(
      context: Context,
      id: string,
      wanted: RebuildRequest,
    ): Promise<{ readonly server: Server; readonly adminPassword: string }> {
      const before = await servers.ready(context, id, 'rebuild');
      const { image, reimage } = await checkImage(context, before, wanted);
      if (wanted.metadata) await checkMetadataQuota(core, context, Object.keys(wanted.metadata).length);
      if (wanted.files) await checkFiles(context, wanted.files);
      const key = await keyOf(context, wanted.keyName);
      const adminPassword = wanted.adminPassword ?? generatePassword();
      const args: RebuildArguments = {
        imageId: image.id,
        adminPassword,
        preserveEphemeral: wanted.preserveEphemeral ?? false,
        files: wanted.files ?? [],
        reimage,
      };
      const server = await servers.act(context, id, 'rebuild', {
        arguments: { ...args },
        also: async (_tx, current): Promise<ServerPatch> => ({
          ...(!isVolumeBacked(current) && {
            imageId: image.id,
            imageProperties: image.properties,
            kernelId: image.properties.kernel_id ?? '',
            ramdiskId: image.properties.ramdisk_id ?? '',
          }),
          name: wanted.name ?? current.name,
          metadata: wanted.metadata ?? current.metadata,
          diskConfig: wanted.diskConfig ?? current.diskConfig,
          accessIpV4: wanted.accessIpV4 ?? current.accessIpV4,
          accessIpV6: wanted.accessIpV6 ?? current.accessIpV6,
          description: wanted.description === undefined ? current.description : wanted.description,
          keyName: key === undefined ? current.keyName : (key?.name ?? null),
          keyData: key === undefined ? current.keyData : (key?.publicKey ?? null),
          userData: wanted.userData === undefined ? current.userData : wanted.userData,
          trustedCerts: wanted.trustedCerts === undefined ? current.trustedCerts : wanted.trustedCerts,
          hostname: wanted.hostname ?? current.hostname,
          wasRunning: current.vmState !== 'stopped',
          progress: 0,
        }),
      });
      return { server, adminPassword };
    },
  };
}
