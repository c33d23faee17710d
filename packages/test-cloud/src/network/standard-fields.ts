import { derived, type Fields, fixed, settable } from '../service/field.js';
import { text } from '../service/wire-types.js';

/** The ID and the owning project, which has two field names. Only administrators may set another project. */
export const ownerFields = {
  id: derived(),
  project_id: fixed(text),
  tenant_id: fixed(text),
} satisfies Fields;

/** The fields for timestamps and the revision number. */
export const stampFields: Fields = {
  created_at: derived(undefined, { filter: false }),
  updated_at: derived(undefined, { filter: false }),
  revision_number: derived(undefined, { filter: 'only' }),
};

/** The fields that most network resources have. */
export const standardFields: Fields = {
  ...ownerFields,
  description: settable(text, '', { filter: 'only' }),
  ...stampFields,
};

export const nameFields: Fields = { name: settable(text, '') };

const hiddenField = { hidden: true, filter: false } as const;

/** Hidden timestamps and revision number, for resources whose responses do not contain these fields. */
export const hiddenStamps: Fields = {
  created_at: derived(undefined, hiddenField),
  updated_at: derived(undefined, hiddenField),
  revision_number: derived(undefined, hiddenField),
};

/** The ID and a hidden project, for resources whose responses do not contain their project. */
export const hiddenOwner: Fields = {
  id: derived(),
  project_id: fixed(text, undefined, hiddenField),
  tenant_id: fixed(text, undefined, hiddenField),
};

/** Returns a resource's singular and plural names and path. @param path default: the hyphenated plural */
export function resourceNames(one: string, path = `${one.replaceAll('_', '-')}s`) {
  return { one, many: `${one}s`, path };
}
