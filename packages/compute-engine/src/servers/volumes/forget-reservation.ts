import { unlessRefused } from '@apistrata/catalogs';
import type { Core } from '../../core/core.js';
import type { Caller } from '../../model/index.js';

/** What is known of a reservation that a request may have made. */
interface PossibleReservation {
  readonly key: string;
  readonly volumeId: string;
  readonly serverId: string;
  readonly attachmentId: string | null;
}

/**
 * Ends the attachment that a request may have made under this key. Reserving once more with the same key finds it,
 * however little of it was written down.
 */
export async function forgetReservation(
  { catalogs: { volumes } }: Core,
  caller: Caller,
  { key, volumeId, serverId, attachmentId }: PossibleReservation,
): Promise<void> {
  const id = attachmentId ?? (await unlessRefused(volumes.reserve(caller, { key, volumeId, serverId })))?.id;
  if (id) await unlessRefused(volumes.deleteAttachment(caller, id));
}
