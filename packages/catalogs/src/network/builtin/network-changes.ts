/** The catalog operations that may change the networks that drivers build for servers. */
const CHANGING_OPERATIONS = [
  'updateNetwork',
  'createSubnet',
  'updateSubnet',
  'deleteSubnet',
  'updatePort',
  'deletePort',
  'bindPort',
  'movePorts',
  'releasePorts',
  'addFixedIp',
  'removeFixedIp',
  'addSecurityGroup',
  'removeSecurityGroup',
  'createSecurityGroupRule',
  'deleteSecurityGroupRule',
  'deleteSecurityGroup',
  'associateFloatingIp',
  'disassociateFloatingIp',
  'releaseFloatingIp',
  'updateRouter',
  'deleteRouter',
  'addRouterInterface',
  'removeRouterInterface',
] as const;

type ChangingOperation = (typeof CHANGING_OPERATIONS)[number];

/** Notifies listeners after operations that change networks. */
export class NetworkChanges {
  readonly #listeners = new Set<() => void>();

  listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Wraps the operations so that listeners are notified after the commit of an operation that changes networks. */
  notify<V extends Readonly<Record<ChangingOperation, (...args: never[]) => Promise<unknown>>>>(operations: V): V {
    const notify =
      (operation: (...args: never[]) => Promise<unknown>) =>
      async (...args: never[]) => {
        const result = await operation(...args);
        for (const listener of this.#listeners) listener();
        return result;
      };
    return {
      ...operations,
      ...Object.fromEntries(CHANGING_OPERATIONS.map((name) => [name, notify(operations[name])])),
    };
  }
}
