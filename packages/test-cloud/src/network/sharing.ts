import type { NetworkRecord } from '@apistrata/compute-engine/catalogs';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { ifMissing } from '../service/if-missing.js';
import type { Wire } from '../service/wire.js';
import { missingResource } from './network-errors.js';

/** The target of an RBAC policy that applies to all projects. */
export const EVERY_PROJECT = '*';

/** The projects that may use an object, by action; {@link EVERY_PROJECT} stands for all projects. */
export type Grants = Readonly<Record<string, readonly string[]>>;

/** An object and the projects with which it is shared. */
export interface SharedObject {
  readonly id: string;
  readonly projectId: string;
  readonly grants: Grants;
  /** The actions whose RBAC policy for all projects cannot be removed. */
  readonly mustBeOffered?: readonly string[];
}

/** An object type whose objects can be shared with other projects. */
export interface Shareable {
  readonly actions: readonly string[];
  /** Whether RBAC policies are stored but have no effect. */
  readonly isRecorded?: true;
  /** Returns all shared objects. The result may also contain objects that are not shared. */
  readonly list: (call: Call) => Promise<readonly SharedObject[]>;
  /**
   * @throws CatalogError or ServiceError if the object is missing, or is a network or group that the caller cannot see
   */
  readonly get: (call: Call, id: string) => Promise<SharedObject>;
  /** Stores the grants of an object. Ignores a deleted object. */
  readonly set: (call: Call, id: string, grants: Grants) => Promise<void>;
}

const SHARED_ACTION = 'access_as_shared';
const EXTERNAL_ACTION = 'access_as_external';

/**
 * Returns the caller as an administrator without a project, for whom a record looks the same regardless of its grants.
 */
const adminWithoutProject = ({ elevatedCaller }: Call) => ({ ...elevatedCaller, projectId: '' });

const groupTable = ({ cloud }: Call) => cloud.documents.table<Wire>('network/security_groups');

const targetsOf = ({ shared, shared_with }: Wire): readonly string[] => [
  ...(shared === true ? [EVERY_PROJECT] : []),
  ...((shared_with ?? []) as readonly string[]),
];

/** Returns whether a stored record is shared with the caller's project. */
export function isShared({ caller }: Call, { shared, shared_with }: Wire): boolean {
  return shared === true || ((shared_with ?? []) as readonly string[]).includes(caller.projectId);
}

/** Returns whether the caller can see a stored record: as an administrator, as its owner, or because it is shared. */
export const isAccessible = (call: Call, record: Wire) =>
  call.isAdmin || record.project_id === call.caller.projectId || isShared(call, record);

const sharingFields = ({ [SHARED_ACTION]: targets = [] }: Grants): Wire => ({
  shared: targets.includes(EVERY_PROJECT),
  shared_with: targets.filter((target) => target !== EVERY_PROJECT),
});

/** Returns an object type whose objects are stored as documents that contain their grants. */
function shareableDocuments(title: string, table: string): Shareable {
  const recordTable = ({ cloud }: Call) => cloud.documents.table<Doc>(`network/${table}`);
  const shared = (doc: Doc) => ({
    id: doc.id,
    projectId: String(doc.project_id),
    grants: { [SHARED_ACTION]: targetsOf(doc) },
  });
  return {
    actions: [SHARED_ACTION],
    list: async (call) => [...recordTable(call).values()].map(shared),
    get: async (call, id) => {
      const doc = recordTable(call).get(id);
      if (!doc) throw missingResource(title, id);
      return shared(doc);
    },
    set: async (call, id, grants) => {
      const doc = recordTable(call).get(id);
      if (doc) recordTable(call).set(id, { ...doc, ...sharingFields(grants) });
    },
  };
}

function sharedNetwork({ id, projectId, ...network }: NetworkRecord): SharedObject {
  const { shared, sharedWith = [], external, externalFor, isDefault } = network;
  return {
    id,
    projectId,
    grants: {
      [SHARED_ACTION]: [...(shared ? [EVERY_PROJECT] : []), ...sharedWith],
      [EXTERNAL_ACTION]: external ? (externalFor ?? [EVERY_PROJECT]) : [],
    },
    ...(isDefault && { mustBeOffered: [EXTERNAL_ACTION] }),
  };
}

/** Networks. An RBAC policy with the action `access_as_external` makes a network external. */
const networks: Shareable = {
  actions: [SHARED_ACTION, EXTERNAL_ACTION],
  list: async (call) =>
    (await call.cloud.catalogs.networks.listNetworks(adminWithoutProject(call), { offered: true })).map(sharedNetwork),
  async get(call, id) {
    const { networks: catalog } = call.cloud.catalogs;
    await catalog.getNetwork(call.caller, id);
    return sharedNetwork(await catalog.getNetwork(adminWithoutProject(call), id));
  },
  async set(call, id, { [SHARED_ACTION]: shared = [], [EXTERNAL_ACTION]: external = [] }) {
    const change = {
      shared: shared.includes(EVERY_PROJECT),
      sharedWith: shared.filter((target) => target !== EVERY_PROJECT),
      external: external.length > 0,
      externalFor: external.length === 0 || external.every((target) => target === EVERY_PROJECT) ? null : external,
    };
    await call.cloud.catalogs.networks.updateNetwork(adminWithoutProject(call), id, change).catch(ifMissing);
  },
};

/** Security groups. Their RBAC policies are stored, but do not let other projects see the groups. */
const securityGroups: Shareable = {
  actions: [SHARED_ACTION],
  isRecorded: true,
  async list(call) {
    const sharedGroups = [];
    for (const [id, doc] of groupTable(call))
      if (targetsOf(doc).length > 0) {
        const group = await call.cloud.catalogs.networks
          .getSecurityGroup(adminWithoutProject(call), id)
          .catch(ifMissing);
        if (group) sharedGroups.push({ id, projectId: group.projectId, grants: { [SHARED_ACTION]: targetsOf(doc) } });
      }
    return sharedGroups;
  },
  async get(call, id) {
    const { projectId } = await call.cloud.catalogs.networks.getSecurityGroup(call.caller, id);
    return { id, projectId, grants: { [SHARED_ACTION]: targetsOf(groupTable(call).get(id) ?? {}) } };
  },
  async set(call, id, grants) {
    groupTable(call).set(id, { ...groupTable(call).get(id), ...sharingFields(grants) });
  },
};

/** The object types whose objects can be shared, by name. */
export const SHAREABLE_TYPES: Readonly<Record<string, Shareable>> = {
  network: networks,
  qos_policy: shareableDocuments('QoS policy', 'policies'),
  security_group: securityGroups,
  address_scope: shareableDocuments('Address scope', 'address_scopes'),
  address_group: shareableDocuments('Address group', 'address_groups'),
  subnetpool: shareableDocuments('Subnet pool', 'subnetpools'),
};
