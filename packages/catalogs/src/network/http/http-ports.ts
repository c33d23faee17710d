import type { Caller } from '../../caller/caller.js';
import { isAdmin } from '../../caller/caller-scope.js';
import { CatalogError } from '../../errors/catalog-error.js';
import { canonicalIp } from '../ip-address.js';
import type { NewPort, Port, PortBinding, PortQuery } from '../network-catalog.js';
import { type createGroupResolver, findGroup } from './http-security-groups.js';
import type { NetworkClient, WireResource } from './network-client.js';

/** Returns the description of a new port. It contains the caller's key, by which a repeated request finds the port. */
function portDescription(key: string): string {
  return `compute-port ${key}`;
}

const portErrors = { 404: 'PORT_NOT_FOUND', 409: 'PORT_IN_USE' } as const;
const UNBOUND_FIELDS = { device_id: '', device_owner: '', 'binding:host_id': '' };

/** Creates the operations of the HTTP network catalog that assign ports to servers. */
export function httpPorts(client: NetworkClient, resolve: ReturnType<typeof createGroupResolver>) {
  const path = (id: string) => `/ports/${encodeURIComponent(id)}`;

  const changePort = async (caller: Caller, id: string, port: object, via = client): Promise<WireResource> =>
    (await via.send(caller, 'PUT', path(id), { port }, portErrors)).port;

  /** Binds a port on behalf of the engine, because users may not bind ports to hosts. */
  const bindAsService = (caller: Caller, id: string, port: object) => changePort(caller, id, port, client.service);

  const deletePort = (caller: Caller, id: string): Promise<void> =>
    client.service.send(caller, 'DELETE', path(id), undefined, portErrors).catch((error: CatalogError) => {
      if (error.code !== 'PORT_NOT_FOUND') throw error;
    });

  /** Returns the server's ports that the caller can see, or all ports if `via` is `client.service`. */
  const listServerPorts = (caller: Caller, deviceId: string, via = client): Promise<readonly WireResource[]> =>
    via.list(caller, 'ports', { device_id: deviceId });

  async function createPort(caller: Caller, request: NewPort): Promise<WireResource> {
    await client.getNetwork(caller, request.networkId);
    const groups = await resolve({ ...caller, projectId: request.projectId }, request.securityGroups ?? []);
    const port = {
      network_id: request.networkId,
      tenant_id: request.projectId,
      device_id: request.deviceId,
      admin_state_up: true,
      name: request.name ?? '',
      description: portDescription(request.key),
      ...(request.mac === undefined ? {} : { mac_address: request.mac }),
      ...(request.addresses ? { fixed_ips: request.addresses.map((ip_address) => ({ ip_address })) } : {}),
      ...(groups.length > 0 ? { security_groups: groups.map((group) => group.id) } : {}),
    };
    return (await client.send(caller, 'POST', '/ports', { port }, { 404: 'NETWORK_NOT_FOUND' })).port;
  }

  /** Returns the bound port with the requested key. Creates the port unless an earlier attempt has created it. */
  async function getOrCreateBoundPort(caller: Caller, requested: NewPort): Promise<WireResource> {
    const { deviceId: device_id, networkId: network_id, deviceOwner, hostId } = requested;
    const existingPorts = await client.service.list(caller, 'ports', { device_id, network_id });
    const port =
      existingPorts.find(({ description }) => description === portDescription(requested.key)) ??
      (await createPort(caller, requested));
    if (port.device_owner === deviceOwner && port['binding:host_id'] === hostId) return port;
    return bindAsService(caller, port.id, { device_owner: deviceOwner, 'binding:host_id': hostId });
  }

  /** Runs all operations, even if some of them fail, and then throws the first error. */
  async function runAll(operations: readonly (() => Promise<unknown>)[]): Promise<void> {
    const failures: unknown[] = [];
    for (const operation of operations) await operation().catch((error) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  }

  return {
    async listPorts(caller: Caller, query: PortQuery): Promise<readonly Port[]> {
      const canReadAll = caller.token !== undefined || isAdmin(caller);
      const commonParameters = {
        network_id: query.networkId,
        project_id: canReadAll ? undefined : caller.projectId,
        fixed_ips: query.address === undefined ? undefined : `ip_address=${canonicalIp(query.address)}`,
      };
      const fetchedPorts = query.ids
        ? await client.listAny(caller, 'ports', 'id', query.ids, commonParameters)
        : query.deviceIds
          ? await client.listAny(caller, 'ports', 'device_id', query.deviceIds, commonParameters)
          : await client.list(caller, 'ports', commonParameters);
      const matchingPorts = fetchedPorts.filter((port) => !query.deviceIds || query.deviceIds.includes(port.device_id));
      return client.readPorts(caller, matchingPorts);
    },

    getPort: async (caller: Caller, id: string): Promise<Port> =>
      client.readPort(caller, await client.fetchPort(caller, id)),

    /** Creates ports. If a port cannot be created, the ports that this call has created are deleted. */
    async createPorts(caller: Caller, requests: readonly NewPort[]): Promise<readonly Port[]> {
      const createdPorts: WireResource[] = [];
      try {
        for (const port of requests) createdPorts.push(await getOrCreateBoundPort(caller, port));
      } catch (error) {
        // The ports are queried again because the response to a successful create request may have been lost.
        const keys = new Set(requests.map((port) => portDescription(port.key)));
        for (const deviceId of new Set(requests.map((port) => port.deviceId))) {
          const serverPorts = await listServerPorts(caller, deviceId, client.service).catch(() => createdPorts);
          const portsToDelete = serverPorts.filter((port) => keys.has(port.description));
          await runAll(portsToDelete.map((port) => () => deletePort(caller, port.id))).catch(() => {});
        }
        throw error;
      }
      return client.readPorts(caller, createdPorts);
    },

    async bindPort(caller: Caller, id: string, binding: PortBinding): Promise<Port> {
      const currentPort = await client.fetchPort(caller, id);
      if (currentPort.device_id && currentPort.device_id !== binding.deviceId)
        throw new CatalogError('PORT_IN_USE', `Port ${id} is still in use.`);
      const { deviceId, deviceOwner, hostId } = binding;
      const port = { device_id: deviceId, device_owner: deviceOwner, 'binding:host_id': hostId };
      return client.readPort(caller, await bindAsService(caller, id, port));
    },

    async movePorts(caller: Caller, deviceId: string, hostId: string): Promise<void> {
      const ports = await listServerPorts(caller, deviceId, client.service);
      await runAll(ports.map((port) => () => bindAsService(caller, port.id, { 'binding:host_id': hostId })));
    },

    async releasePorts(
      caller: Caller,
      deviceId: string,
      { owned, bound }: { readonly owned: readonly string[]; readonly bound: readonly string[] },
    ): Promise<void> {
      const existingIds = new Set((await listServerPorts(caller, deviceId, client.service)).map((port) => port.id));
      await runAll([
        ...owned.filter((id) => existingIds.has(id)).map((id) => () => deletePort(caller, id)),
        ...bound.filter((id) => existingIds.has(id)).map((id) => () => bindAsService(caller, id, UNBOUND_FIELDS)),
      ]);
    },

    async addFixedIp(caller: Caller, deviceId: string, networkId: string): Promise<Port> {
      const port = (await listServerPorts(caller, deviceId)).find((one) => one.network_id === networkId);
      if (!port) throw new CatalogError('PORT_NOT_FOUND', `Server ${deviceId} has no port on network ${networkId}.`);
      let failure = new CatalogError('NO_FREE_ADDRESS', `No more IP addresses available on network ${networkId}.`);
      for (const subnet of await client.list(caller, 'subnets', { network_id: networkId })) {
        try {
          const fixed_ips = [...port.fixed_ips, { subnet_id: subnet.id }];
          return await client.readPort(caller, await changePort(caller, port.id, { fixed_ips }));
        } catch (error) {
          if ((error as CatalogError).code !== 'NO_FREE_ADDRESS') throw error;
          failure = error as CatalogError;
        }
      }
      throw failure;
    },

    async removeFixedIp(caller: Caller, deviceId: string, text: string): Promise<Port> {
      const address = canonicalIp(text);
      for (const port of await listServerPorts(caller, deviceId)) {
        const fixed_ips = port.fixed_ips.filter((fixedIp: WireResource) => canonicalIp(fixedIp.ip_address) !== address);
        if (fixed_ips.length === port.fixed_ips.length) continue;
        return client.readPort(caller, await changePort(caller, port.id, { fixed_ips }));
      }
      throw new CatalogError('ADDRESS_NOT_FOUND', `Server ${deviceId} does not have fixed IP ${text}.`);
    },

    async addSecurityGroup(caller: Caller, deviceId: string, nameOrId: string): Promise<void> {
      const { id } = await findGroup(client, caller, nameOrId);
      const ports = (await listServerPorts(caller, deviceId)).filter((port) => !port.security_groups.includes(id));
      await runAll(
        ports.map((port) => () => changePort(caller, port.id, { security_groups: [...port.security_groups, id] })),
      );
    },

    async removeSecurityGroup(caller: Caller, deviceId: string, nameOrId: string): Promise<void> {
      const { id } = await findGroup(client, caller, nameOrId);
      const ports = (await listServerPorts(caller, deviceId)).filter((port) => port.security_groups.includes(id));
      if (ports.length === 0)
        throw new CatalogError(
          'SECURITY_GROUP_NOT_ASSOCIATED',
          `Security group ${nameOrId} not associated with the instance ${deviceId}`,
        );
      const remainingGroupIds = (port: WireResource) =>
        port.security_groups.filter((groupId: string) => groupId !== id);
      await runAll(
        ports.map((port) => () => changePort(caller, port.id, { security_groups: remainingGroupIds(port) })),
      );
    },
  };
}
