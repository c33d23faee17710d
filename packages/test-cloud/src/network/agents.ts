import { stableUuid } from '../identity/new-id.js';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { derived, settable } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import { unsupportedAction } from '../service/service-error.js';
import type { Storage } from '../service/storage.js';
import type { Wire } from '../service/wire.js';
import { flag, longText } from '../service/wire-types.js';
import { resourceNames } from './standard-fields.js';

/** The network agents on each host, which serve DHCP, routers, metadata and server ports. */
const AGENT_KINDS = [
  { agent_type: 'DHCP agent', binary: 'neutron-dhcp-agent', topic: 'dhcp_agent', availability_zone: 'nova' },
  { agent_type: 'L3 agent', binary: 'neutron-l3-agent', topic: 'l3_agent', availability_zone: 'nova' },
  { agent_type: 'Metadata agent', binary: 'neutron-metadata-agent', topic: 'N/A', availability_zone: null },
  { agent_type: 'Open vSwitch agent', binary: 'neutron-openvswitch-agent', topic: 'N/A', availability_zone: null },
] as const;

/** Formats a time as `2026-01-31 12:34:56`. */
const formatSeconds = (ms: number) => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');

/** The agent settings that administrators have changed, by agent ID. */
const settingsTable = ({ cloud }: Call) => cloud.documents.table<Wire>('network/agents');

async function listHostAgents(call: Call): Promise<readonly Doc[]> {
  const services = await call.cloud.engine.services.list({ binary: 'nova-compute' });
  return services.flatMap(({ service, up, lastSeenAt }) =>
    AGENT_KINDS.map((kind): Doc => {
      const id = stableUuid('agent', `${service.id}/${kind.binary}`);
      const createdAt = formatSeconds(service.createdAt);
      return {
        id,
        ...kind,
        host: service.host,
        admin_state_up: true,
        description: null,
        ...settingsTable(call).get(id),
        alive: up,
        created_at: createdAt,
        started_at: createdAt,
        heartbeat_timestamp: formatSeconds(lastSeenAt ?? service.createdAt),
        configurations: {},
        resources_synced: null,
      };
    }),
  );
}

const storage: Storage = {
  // As in Neutron, only administrators see agents.
  list: async (call) => (call.isAdmin ? listHostAgents(call) : []),
  get: async (call, id) => (await storage.list(call)).find((agent) => agent.id === id),
  create: () => {
    throw unsupportedAction('create');
  },
  update(call, before, change) {
    settingsTable(call).set(before.id, { ...settingsTable(call).get(before.id), ...change });
    return { ...before, ...change };
  },
  // As in Neutron, a running host's agent registers again after its removal, with the initial settings.
  remove: (call, { id }) => settingsTable(call).delete(id),
};

/** Agents, which run parts of the network service on each host. An agent is alive while its host is alive. */
export const agents: ResourceSpec = {
  ...resourceNames('agent'),
  verbs: ['list', 'show', 'change', 'remove'],
  fields: () => ({
    id: derived(),
    agent_type: derived(),
    binary: derived(),
    topic: derived(),
    host: derived(),
    admin_state_up: settable(flag),
    description: settable(longText.nullable()),
    alive: derived(),
    availability_zone: derived(),
    created_at: derived(undefined, { filter: false }),
    started_at: derived(undefined, { filter: false }),
    heartbeat_timestamp: derived(undefined, { filter: false }),
    configurations: derived(undefined, { filter: false }),
    resources_synced: derived(undefined, { filter: false }),
  }),
  changing: async (call, _before, { admin_state_up }) => {
    // Hosts that run real guests would ignore this setting, so the request is rejected.
    if (admin_state_up === false && !call.cloud.simulated) throw unsupportedAction('admin_state_up');
    return undefined;
  },
  storage,
};
