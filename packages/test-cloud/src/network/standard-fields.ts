import { derived, type Fields, fixed, settable } from '../service/field.js';
import { longText, text } from '../service/wire-types.js';

/** The id, and the project, which has two names. Only administrators may set another project. */
export const ownerFields = {
  id: derived(),
  project_id: fixed(text),
  tenant_id: fixed(text),
} satisfies Fields;

/** The timestamps and the revision number. */
export const stampFields: Fields = {
  created_at: derived(undefined, { filter: false }),
  updated_at: derived(undefined, { filter: false }),
  revision_number: derived(),
};

/** Fields that most resources of the network service have. */
export const standardFields: Fields = {
  ...ownerFields,
  description: settable(longText, ''),
  ...stampFields,
};

export const named: Fields = { name: settable(text, '') };

/** The fields of resources without timestamps and revision number. */
export const hiddenStamps: Fields = Object.fromEntries(
  ['created_at', 'updated_at', 'revision_number'].map((key) => [key, derived(undefined, { hidden: true, filter: false })]),
);
