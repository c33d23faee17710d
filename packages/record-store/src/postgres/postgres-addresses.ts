const PARTS = /^(postgres(?:ql)?:\/\/)(?:(.*)@)?([^/?]*)(.*)$/s;

/**
 * The addresses that a connection string names, one for each of its hosts: `postgres://me@a,b:5433/cloud` are
 * `postgres://me@a/cloud` and `postgres://me@b:5433/cloud`.
 */
export function postgresAddresses(url: string): readonly string[] {
  const [, scheme, user, hosts = '', rest] = PARTS.exec(url) ?? [];
  if (!hosts.includes(',')) return [url];
  return hosts.split(',').map((host) => `${scheme}${user === undefined ? '' : `${user}@`}${host}${rest}`);
}
