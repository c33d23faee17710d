import type { Port } from '@apistrata/catalogs';
import type { ServerInterface } from '../../model/index.js';

/** A planned port of a server, as stored in jobs. */
export interface RequestedPort {
  /** The id of an existing port, or the idempotency key of a new port. */
  readonly portId: string;
  readonly existing: boolean;
  readonly networkId: string;
  readonly addresses?: readonly string[];
  readonly tag: string | null;
}

/** Returns the server interface that represents a port. */
export function interfaceOf(port: Port, tag: string | null, owned: boolean): ServerInterface {
  return {
    portId: port.id,
    networkId: port.networkId,
    label: port.networkName,
    mac: port.mac,
    fixedIps: port.fixedIps,
    securityGroups: port.securityGroups.map(({ name }) => name),
    tag,
    owned,
  };
}

/**
 * Returns the server interface for a planned port. The interface is stored before the port is created, so that deleting
 * the server also releases the port.
 */
export function createPlannedInterface({ portId, networkId, tag, existing }: RequestedPort): ServerInterface {
  return { portId, networkId, label: '', mac: '', fixedIps: [], securityGroups: [], tag, owned: !existing };
}

/** Returns all given interfaces except the interface with the given port id. */
export function excludePort(interfaces: readonly ServerInterface[], id: string): readonly ServerInterface[] {
  return interfaces.filter(({ portId }) => portId !== id);
}
