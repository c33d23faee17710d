/** What may change what is to be built for servers. */
const changing = [
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

type ChangingVerb = (typeof changing)[number];

/** Tells those who listen that networks are not what they were. */
export class NetworkChanges {
  readonly #listeners = new Set<() => void>();

  listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** The same verbs, of which those that change something tell it once it is durable. */
  told<V extends Readonly<Record<ChangingVerb, (...args: never[]) => Promise<unknown>>>>(verbs: V): V {
    const tell =
      (verb: (...args: never[]) => Promise<unknown>) =>
      async (...args: never[]) => {
        const answer = await verb(...args);
        for (const listener of this.#listeners) listener();
        return answer;
      };
    return { ...verbs, ...Object.fromEntries(changing.map((name) => [name, tell(verbs[name])])) };
  }
}
