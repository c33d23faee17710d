/** The catalog operations that may change the networks that drivers build for servers. */
const CHANGING_VERBS = [
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

type ChangingVerb = (typeof CHANGING_VERBS)[number];

/** Notifies listeners after operations that change networks. */
export class NetworkChanges {
  readonly #listeners = new Set<() => void>();

  listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Wraps the operations so that listeners are notified after the commit of an operation that changes networks. */
  notify<V extends Readonly<Record<ChangingVerb, (...args: never[]) => Promise<unknown>>>>(verbs: V): V {
    const notify =
      (verb: (...args: never[]) => Promise<unknown>) =>
      async (...args: never[]) => {
        const response = await verb(...args);
        for (const listener of this.#listeners) listener();
        return response;
      };
    return { ...verbs, ...Object.fromEntries(CHANGING_VERBS.map((name) => [name, notify(verbs[name])])) };
  }
}
