import { compoundKey, retryOnUniqueViolation } from '@apistrata/record-store';
import type { EmbeddedContext } from '../../builtin/embedded-options.js';
import type { Caller } from '../../caller/caller.js';
import { isAdmin } from '../../caller/caller-scope.js';
import { CatalogError } from '../../errors/catalog-error.js';
import { type ImageMember, type ImageRecord, imageTables, type MemberStatus } from './image-tables.js';

/** Functions that return an image if the caller may see or change the image, and throw an error otherwise. */
export interface ImageLookup {
  readonly getVisible: (caller: Caller, id: string) => Promise<ImageRecord>;
  readonly getChangeable: (caller: Caller, id: string) => Promise<ImageRecord>;
}

/** Creates the operations that share images with individual projects, which are then image members. */
export function imageMembers({ store, clock }: EmbeddedContext, { getVisible, getChangeable }: ImageLookup) {
  const memberNotFound = (imageId: string, projectId: string) =>
    new CatalogError('IMAGE_MEMBER_NOT_FOUND', `Image ${imageId} has no member ${projectId}`);

  return {
    /** Lists an image's members. The owner sees all members; a member sees only itself. */
    async listMembers(caller: Caller, imageId: string): Promise<readonly ImageMember[]> {
      const image = await getVisible(caller, imageId);
      const canListAll = image.projectId === caller.projectId || isAdmin(caller);
      return imageTables.members.find(store, (q) => {
        const members = q.where('image_id', '=', imageId).orderBy('seq');
        return canListAll ? members : members.where('project_id', '=', caller.projectId);
      });
    },

    async addMember(caller: Caller, imageId: string, projectId: string): Promise<ImageMember> {
      const image = await getChangeable(caller, imageId);
      if (image.visibility !== 'shared') throw new CatalogError('IMAGE_FORBIDDEN', 'Only shared images have members.');
      return retryOnUniqueViolation(store, async (tx) => {
        if (await imageTables.members.get(tx, compoundKey(imageId, projectId)))
          throw new CatalogError('IMAGE_EXISTS', `Image ${imageId} is already shared with ${projectId}`);
        const now = clock.now();
        return imageTables.members.insert(tx, {
          imageId,
          projectId,
          status: 'pending',
          createdAt: now,
          updatedAt: now,
        });
      });
    },

    /** Sets whether a member accepts a shared image. Only the member project and administrators may call this. */
    async setMemberStatus(
      caller: Caller,
      imageId: string,
      projectId: string,
      status: MemberStatus,
    ): Promise<ImageMember> {
      await getVisible(caller, imageId);
      if (projectId !== caller.projectId && !isAdmin(caller))
        throw new CatalogError('IMAGE_FORBIDDEN', 'Only the member project can accept or reject the image.');
      return store.transaction(async (tx) => {
        const member = await imageTables.members.lock(tx, compoundKey(imageId, projectId));
        if (!member) throw memberNotFound(imageId, projectId);
        return imageTables.members.update(tx, { ...member, status, updatedAt: clock.now() });
      });
    },

    async removeMember(caller: Caller, imageId: string, projectId: string): Promise<void> {
      await getChangeable(caller, imageId);
      const wasRemoved = await store.transaction((tx) =>
        imageTables.members.delete(tx, compoundKey(imageId, projectId)),
      );
      if (!wasRemoved) throw memberNotFound(imageId, projectId);
    },
  };
}
