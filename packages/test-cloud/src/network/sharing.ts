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
  /** @throws CatalogError or ServiceError if the object is missing, or a network or group that the caller cannot see */
  readonly get: (call: Call, id: string) => Promise<SharedObject>;
  /** Stores the grants of an object. Ignores a deleted object. */
  readonly set: (call: Call, id: string, grants: Grants) => Promise<void>;
}

const SHARED = 'access_as_shared';
const EXTERNAL = 'access_as_external';

/** Returns the caller as an administrator without a project, so that a record's grants do not change its view. */
const outside = ({ caller }: Call) => ({ ...caller, projectId: '', isAdmin: true });

const groupDocuments = ({ cloud }: Call) => cloud.documents.table<Wire>('network/security_groups');

const targetsOf = ({ shared, shared_with }: Wire): readonly string[] => [
  ...(shared === true ? [EVERY_PROJECT] : []),
  ...((shared_with ?? []) as readonly string[]),
];

/** Returns whether a stored record is shared with the caller's project. */
export function isShared({ caller }: Call, { shared, shared_with }: Wire): boolean {
  return shared === true || ((shared_with ?? []) as readonly string[]).includes(caller.projectId);
}

/** Returns whether the caller sees a stored record: as an administrator, as its owner, or because it is shared. */
export const isAccessible = (call: Call, record: Wire) =>
  call.isAdmin || record.project_id === call.caller.projectId || isShared(call, record);

const fieldsOf = ({ [SHARED]: targets = [] }: Grants): Wire => ({
  shared: targets.includes(EVERY_PROJECT),
  shared_with: targets.filter((target) => target !== EVERY_PROJECT),
});

/** Returns an object type whose objects are stored as documents that contain their grants. */
function documents(title: string, table: string): Shareable {
  const records = ({ cloud }: Call) => cloud.documents.table<Doc>(`network/${table}`);
  const shared = (doc: Doc) => ({
    id: doc.id,
    projectId: String(doc.project_id),
    grants: { [SHARED]: targetsOf(doc) },
  });
  return {
    actions: [SHARED],
    list: async (call) => [...records(call).values()].map(shared),
    get: async (call, id) => {
      const doc = records(call).get(id);
      if (!doc) throw missingResource(title, id);
      return shared(doc);
    },
    set: async (call, id, grants) => {
      const doc = records(call).get(id);
      if (doc) records(call).set(id, { ...doc, ...fieldsOf(grants) });
    },
  };
}

function networkOf({ id, projectId, ...network }: NetworkRecord): SharedObject {
  const { shared, sharedWith = [], external, externalFor, isDefault } = network;
  return {
    id,
    projectId,
    grants: {
      [SHARED]: [...(shared ? [EVERY_PROJECT] : []), ...sharedWith],
      [EXTERNAL]: external ? (externalFor ?? [EVERY_PROJECT]) : [],
    },
    ...(isDefault && { mustBeOffered: [EXTERNAL] }),
  };
}

/** Networks. An RBAC policy with the action `access_as_external` makes a network external. */
const networks: Shareable = {
  actions: [SHARED, EXTERNAL],
  list: async (call) =>
    (await call.cloud.catalogs.networks.listNetworks(outside(call), { offered: true })).map(networkOf),
  async get(call, id) {
    const { networks: catalog } = call.cloud.catalogs;
    await catalog.getNetwork(call.caller, id);
    return networkOf(await catalog.getNetwork(outside(call), id));
  },
  async set(call, id, { [SHARED]: shared = [], [EXTERNAL]: external = [] }) {
    const change = {
      shared: shared.includes(EVERY_PROJECT),
      sharedWith: shared.filter((target) => target !== EVERY_PROJECT),
      external: external.length > 0,
      externalFor: external.length === 0 || external.every((target) => target === EVERY_PROJECT) ? null : external,
    };
    await call.cloud.catalogs.networks.updateNetwork(outside(call), id, change).catch(ifMissing);
  },
};

/** Security groups. Their RBAC policies are stored, but do not show the groups to other projects. */
const securityGroups: Shareable = {
  actions: [SHARED],
  isRecorded: true,
  async list(call) {
    const listed = [];
    for (const [id, doc] of groupDocuments(call))
      if (targetsOf(doc).length > 0) {
        const group = await call.cloud.catalogs.networks.getSecurityGroup(outside(call), id).catch(ifMissing);
        if (group) listed.push({ id, projectId: group.projectId, grants: { [SHARED]: targetsOf(doc) } });
      }
    return listed;
  },
  async get(call, id) {
    const { projectId } = await call.cloud.catalogs.networks.getSecurityGroup(call.caller, id);
    return { id, projectId, grants: { [SHARED]: targetsOf(groupDocuments(call).get(id) ?? {}) } };
  },
  async set(call, id, grants) {
    groupDocuments(call).set(id, { ...groupDocuments(call).get(id), ...fieldsOf(grants) });
  },
};

/** The object types whose objects can be shared, by name. */
export const SHARED_TYPES: Readonly<Record<string, Shareable>> = {
  network: networks,
  qos_policy: documents('QoS policy', 'policies'),
  security_group: securityGroups,
  address_scope: documents('Address scope', 'address_scopes'),
  address_group: documents('Address group', 'address_groups'),
  subnetpool: documents('Subnet pool', 'subnetpools'),
};
