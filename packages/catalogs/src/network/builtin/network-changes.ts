/** Operations that may change the networks that drivers build for servers. */
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

/** Notifies listeners of network changes. */
export class NetworkChanges {
  readonly #listeners = new Set<() => void>();

  listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Wraps operations so that listeners are notified of changes after the commit. */
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
