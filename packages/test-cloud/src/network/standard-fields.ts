import { derived, type Fields, fixed, settable } from '../service/field.js';
import { longText, text } from '../service/wire-types.js';

/** Whose it is: in two spellings, of which administrators may name another project. */
export const ownerFields = {
  id: derived(),
  project_id: fixed(text),
  tenant_id: fixed(text),
} satisfies Fields;

/** When it was made and how often changed. */
export const stampFields: Fields = {
  created_at: derived(undefined, { filter: false }),
  updated_at: derived(undefined, { filter: false }),
  revision_number: derived(),
};

/** What nearly every resource of the network service has. */
export const standardFields: Fields = {
  ...ownerFields,
  description: settable(longText, ''),
  ...stampFields,
};

export const named: Fields = { name: settable(text, '') };
