/** Returns an expression for a key of a claim, which is called `claim`. */
function keyOf(kind: 'sqlite' | 'postgres', key: string): string {
  if (kind === 'sqlite') return `json_extract(claim.value, '$.${key}')`;
  return key === 'host' ? `claim ->> '${key}'` : `(claim ->> '${key}')::bigint`;
}

/**
 * Returns SQL for what the claims of servers amount to, by host: `host`, `vcpus`, `memory_mb`, `disk_gb`, `servers`.
 *
 * @param which a condition on rows of `servers`; default: all
 */
export function claimsByHost(kind: 'sqlite' | 'postgres', which = '1 = 1'): string {
  const claims =
    kind === 'sqlite'
      ? `json_each(servers.data, '$.claims') as claim`
      : `jsonb_array_elements(servers.data::jsonb -> 'claims') as claim`;
  const sum = (key: string) => `sum(${keyOf(kind, key)})`;
  return `select ${keyOf(kind, 'host')} as host, ${sum('vcpus')} as vcpus, ${sum('memoryMb')} as memory_mb,
    ${sum('diskGb')} as disk_gb, count(*) as servers from servers, ${claims} where ${which} group by 1`;
}
