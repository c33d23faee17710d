import { derived, type Fields, fixed, settable } from '../service/field.js';
import { text } from '../service/wire-types.js';

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
  revision_number: derived(undefined, { filter: 'only' }),
};

/** Fields that most resources of the network service have. */
export const standardFields: Fields = {
  ...ownerFields,
  description: settable(text, '', { filter: 'only' }),
  ...stampFields,
};

export const named: Fields = { name: settable(text, '') };

const hidden = { hidden: true, filter: false } as const;

/** The fields of resources without timestamps and revision number. */
export const hiddenStamps: Fields = {
  created_at: derived(undefined, hidden),
  updated_at: derived(undefined, hidden),
  revision_number: derived(undefined, hidden),
};

/** The project of resources whose responses do not contain it. */
export const hiddenOwner: Fields = {
  id: derived(),
  project_id: fixed(text, undefined, hidden),
  tenant_id: fixed(text, undefined, hidden),
};

/** Returns the names of a resource whose plural ends with `s`. @param path default: the plural, with hyphens */
export function names(one: string, path = `${one.replaceAll('_', '-')}s`) {
  return { one, many: `${one}s`, path };
}
