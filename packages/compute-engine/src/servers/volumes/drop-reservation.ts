import { ignoreRejection } from '@apistrata/catalogs';
import type { Core } from '../../core/core.js';
import type { Caller } from '../../model/index.js';

/** A volume reservation that an interrupted request may have created. */
interface PossibleReservation {
  readonly key: string;
  readonly volumeId: string;
  readonly serverId: string;
  readonly attachmentId: string | null;
}

/**
 * Deletes the volume attachment that an interrupted request may have created. Repeating the reservation with the same
 * idempotency key returns the attachment, regardless of how far the request had progressed.
 */
export async function deletePossibleReservation(
  { catalogs: { volumes } }: Core,
  caller: Caller,
  { key, volumeId, serverId, attachmentId }: PossibleReservation,
): Promise<void> {
  const id = attachmentId ?? (await ignoreRejection(volumes.reserve(caller, { key, volumeId, serverId })))?.id;
  if (id) await ignoreRejection(volumes.deleteAttachment(caller, id));
}
