import { ignoreRejection } from '@apistrata/catalogs';
import type { Core } from '../../core/core.js';
import type { Caller } from '../../model/index.js';

/** A reservation that a request may have made. */
interface PossibleReservation {
  readonly key: string;
  readonly volumeId: string;
  readonly serverId: string;
  readonly attachmentId: string | null;
}

/**
 * Deletes the attachment that a request may have created with this key. Repeating the reservation with the same key finds
 * the attachment, regardless of the progress of the request.
 */
export async function dropReservation(
  { catalogs: { volumes } }: Core,
  caller: Caller,
  { key, volumeId, serverId, attachmentId }: PossibleReservation,
): Promise<void> {
  const id = attachmentId ?? (await ignoreRejection(volumes.reserve(caller, { key, volumeId, serverId })))?.id;
  if (id) await ignoreRejection(volumes.deleteAttachment(caller, id));
}
