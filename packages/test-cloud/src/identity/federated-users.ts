import { z } from 'zod';
import type { Call } from '../service/call.js';
import { badRequest } from '../service/service-error.js';
import type { Wire } from '../service/wire.js';

/** A user's accounts at external identity providers. */
export const FederatedAccounts = z.array(
  z.looseObject({
    idp_id: z.string(),
    protocols: z.array(z.looseObject({ protocol_id: z.string(), unique_id: z.string() })).min(1),
  }),
);

/** Throws a 400 error if a user's identity provider or protocol does not exist. */
export function checkFederated({ cloud }: Call, { federated }: Wire): void {
  for (const { idp_id: idp, protocols } of (federated ?? []) as z.infer<typeof FederatedAccounts>) {
    if (!cloud.documents.table('identity/identity_providers').has(idp))
      throw badRequest(`Could not find Identity Provider: ${idp}`);
    for (const { protocol_id: protocol } of protocols)
      if (!cloud.documents.table('identity/protocols').has(`${idp}/${protocol}`))
        throw badRequest(`Could not find federated protocol ${protocol} for Identity Provider: ${idp}.`);
  }
}
