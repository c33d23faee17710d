import { ignoreRejection } from '@apistrata/catalogs';
import type { Core } from '../../core/core.js';
import type { Caller } from '../../model/index.js';

/** A volume reservation that an interrupted request may have created. */
interface PossibleReservation {
  readonly key: string;
  readonly volumeId: string;
  readonly serverId: string;
}

/**
 * Deletes the volume attachment that an interrupted request may have created. Repeating the reservation with the same
 * idempotency key returns the attachment, regardless of how far the request had progressed.
 */
export async function deletePossibleReservation(
  { catalogs: { volumes } }: Core,
  caller: Caller,
  reservation: PossibleReservation,
): Promise<void> {
  const attachment = await ignoreRejection(volumes.reserve(caller, reservation));
  if (attachment) await ignoreRejection(volumes.deleteAttachment(caller, attachment.id));
}
