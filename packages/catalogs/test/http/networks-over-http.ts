import { randomUUID } from 'node:crypto';
import type { Caller } from '../../src/caller/caller.js';
import { httpNetworks, ServiceSession } from '../../src/http/index.js';
import type { NetworkCatalog, NewPort } from '../../src/network/network-catalog.js';
import { type FakeIdentity, startFakeIdentity } from '../fake-services/fake-identity.js';
import { startFakeNetworks } from '../fake-services/fake-network-service.js';

/** The caller of a background job. In contrast to a request, a job does not have the caller's token. */
export const job: Caller = { userId: 'ada', projectId: 'p-ada', roles: ['member'] };
export const NET = randomUUID();
/** The id of a network that another project owns. */
export const OTHER = randomUUID();
export const OUTSIDE = randomUUID();

/** Returns the fields of a new port for a server. */
export const newPortRequest = (more: Partial<NewPort> = {}): NewPort => ({
  key: randomUUID(),
  networkId: NET,
  projectId: 'p-ada',
  deviceId: randomUUID(),
  deviceOwner: 'compute:nova',
  hostId: 'host1',
  ...more,
});

export interface NetworksOverHttp {
  readonly identity: FakeIdentity;
  readonly service: Awaited<ReturnType<typeof startFakeNetworks>>;
  readonly networks: NetworkCatalog;
  /** The user `ada` as the caller of a request, with a token. */
  readonly ada: Caller;
  readonly close: () => Promise<unknown>;
}

/** Starts a fake network service with three networks, and creates an HTTP catalog for the service. */
export async function networksOverHttp(): Promise<NetworksOverHttp> {
  const identity = await startFakeIdentity();
  const ada = { ...job, token: identity.issue('p-ada') };
  const service = await startFakeNetworks(identity.tokens);
  const networks = httpNetworks({
    url: service.url,
    session: new ServiceSession(identity.credentials),
    timeoutMs: 2000,
  });
  const { networks: nets, subnets, 'security-groups': groups } = service.things;
  const net = (id: string, more: object) =>
    nets!.set(id, { id, tenant_id: 'p-ada', shared: false, admin_state_up: true, 'router:external': false, ...more });
  net(NET, { name: 'private' });
  net(OTHER, { name: 'other', tenant_id: 'p-bob' });
  net(OUTSIDE, { name: 'public', tenant_id: 'p-root', 'router:external': true });
  subnets!.set('sub1', { id: 'sub1', network_id: NET, cidr: '10.0.0.0/24' });
  groups!.set('default-id', { id: 'default-id', name: 'default', tenant_id: 'p-ada', security_group_rules: [] });
  return { identity, service, networks, ada, close: () => Promise.all([service.close(), identity.close()]) };
}
