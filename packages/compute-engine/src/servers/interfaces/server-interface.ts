import type { Port } from '@apistrata/catalogs';
import type { ServerInterface } from '../../model/index.js';

/** A port that a server is to get, in the form that jobs keep. */
export interface RequestedPort {
  /** An existing port, or the key under which the new one is made. */
  readonly portId: string;
  readonly existing: boolean;
  readonly networkId: string;
  readonly addresses?: readonly string[];
  readonly tag: string | null;
}

/** A port as its server remembers it. */
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

/** A port that is about to be made: written down before, so that whoever removes the server finds it. */
export function plannedInterface({ portId, networkId, tag, existing }: RequestedPort): ServerInterface {
  return { portId, networkId, label: '', mac: '', fixedIps: [], securityGroups: [], tag, owned: !existing };
}

/** Interfaces without that of one port. */
export function withoutPort(interfaces: readonly ServerInterface[], id: string): readonly ServerInterface[] {
  return interfaces.filter(({ portId }) => portId !== id);
}
