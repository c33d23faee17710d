const URL_PARTS = /^(postgres(?:ql)?:\/\/)(?:(.*)@)?([^/?]*)(.*)$/s;

/**
 * Splits a connection string into one URL per host: `postgres://me@a,b:5433/cloud` becomes `postgres://me@a/cloud` and
 * `postgres://me@b:5433/cloud`.
 */
export function postgresAddresses(url: string): readonly string[] {
  const [, scheme, user, hosts = '', rest] = URL_PARTS.exec(url) ?? [];
  if (!hosts.includes(',')) return [url];
  return hosts.split(',').map((host) => `${scheme}${user === undefined ? '' : `${user}@`}${host}${rest}`);
}
