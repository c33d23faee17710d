import type { NetworkRecord } from '@apistrata/compute-engine/catalogs';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { ifMissing } from '../service/if-missing.js';
import type { Wire } from '../service/wire.js';
import { missingResource } from './network-errors.js';

/** The target of a policy for all projects. */
export const EVERY_PROJECT = '*';

/** The projects that may use an object, by action; {@link EVERY_PROJECT} stands for all. */
export type Grants = Readonly<Record<string, readonly string[]>>;

/** An object with the projects that it is shared with. */
export interface SharedObject {
  readonly id: string;
  readonly projectId: string;
  readonly grants: Grants;
  /** The actions whose policy for every project cannot be removed. */
  readonly mustBeOffered?: readonly string[];
}

/** A type of objects that can be shared. */
export interface Shareable {
  readonly actions: readonly string[];
  /** Whether policies are stored but have no effect. */
  readonly isRecorded?: true;
  /** Returns the objects that other projects can see. */
  readonly list: (call: Call) => Promise<readonly SharedObject[]>;
  /** @throws CatalogError or ServiceError if the object does not exist, or the caller cannot see a network or group */
  readonly get: (call: Call, id: string) => Promise<SharedObject>;
  /** Stores the projects that may use the object. Ignores a deleted one. */
  readonly set: (call: Call, id: string, grants: Grants) => Promise<void>;
}

const SHARED = 'access_as_shared';
const EXTERNAL = 'access_as_external';

/** Returns an administrator of no project, to whom records look the same regardless of the projects that they are shared with. */
const outside = ({ caller }: Call) => ({ ...caller, projectId: '', isAdmin: true });

const groupDocuments = ({ cloud }: Call) => cloud.documents.table<Wire>('network/security_groups');

const targetsOf = ({ shared, shared_with }: Wire): readonly string[] => [
  ...(shared === true ? [EVERY_PROJECT] : []),
  ...((shared_with ?? []) as readonly string[]),
];

/** Returns whether a record of the documents is shared with the caller's project. */
export function isShared({ caller }: Call, { shared, shared_with }: Wire): boolean {
  return shared === true || ((shared_with ?? []) as readonly string[]).includes(caller.projectId);
}

/** Returns whether the caller sees a record of the documents: as an administrator, as its project, or because it is shared. */
export const isAccessible = (call: Call, record: Wire) =>
  call.isAdmin || record.project_id === call.caller.projectId || isShared(call, record);

const fieldsOf = ({ [SHARED]: targets = [] }: Grants): Wire => ({
  shared: targets.includes(EVERY_PROJECT),
  shared_with: targets.filter((target) => target !== EVERY_PROJECT),
});

/** Records of the documents, with the projects in the record. */
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

/** Networks: a network with an external policy is an external network. */
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

/** Security groups: policies are stored, but members of other projects do not see the groups. */
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

/** The types of objects that can be shared. */
export const SHARED_TYPES: Readonly<Record<string, Shareable>> = {
  network: networks,
  qos_policy: documents('QoS policy', 'policies'),
  security_group: securityGroups,
  address_scope: documents('Address scope', 'address_scopes'),
  address_group: documents('Address group', 'address_groups'),
  subnetpool: documents('Subnet pool', 'subnetpools'),
};
