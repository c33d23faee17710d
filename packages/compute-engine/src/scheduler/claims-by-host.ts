/** Returns the SQL expression for a key of the claim with the alias `claim`. */
function claimKeySql(kind: 'sqlite' | 'postgres', key: string): string {
  if (kind === 'sqlite') return `json_extract(claim.value, '$.${key}')`;
  return key === 'host' ? `claim.value ->> '${key}'` : `(claim.value ->> '${key}')::bigint`;
}

/** Returns the FROM item that selects the claims of servers, with the alias `claim`. */
function claimsFromSql(kind: 'sqlite' | 'postgres'): string {
  return kind === 'sqlite'
    ? `json_each(servers.data, '$.claims') as claim`
    : `jsonb_array_elements(servers.data::jsonb -> 'claims') as claim`;
}

/**
 * Returns SQL for the sums of claims by host: `host`, `vcpus`, `memory_mb`, `disk_gb`, `servers`.
 *
 * @param condition a condition on rows of `servers`; default: all
 */
export function claimsByHostSql(kind: 'sqlite' | 'postgres', condition = '1 = 1'): string {
  const sum = (key: string) => `sum(${claimKeySql(kind, key)})`;
  return `select ${claimKeySql(kind, 'host')} as host, ${sum('vcpus')} as vcpus, ${sum('memoryMb')} as memory_mb,
    ${sum('diskGb')} as disk_gb, count(*) as servers from servers, ${claimsFromSql(kind)} where ${condition} group by 1`;
}

/**
 * Returns SQL for the sums of claims in resource classes for which nodes have no column. The columns of the result are
 * `host`, `resource_class` and `used`.
 *
 * @param condition as for {@link claimsByHostSql}
 */
export function resourceClaimsByHostSql(kind: 'sqlite' | 'postgres', condition = '1 = 1'): string {
  const [resources, amount] =
    kind === 'sqlite'
      ? [`json_each(claim.value, '$.resources') as resource`, 'resource.value']
      : [`jsonb_each_text(claim.value -> 'resources') as resource`, 'resource.value::bigint'];
  return `select ${claimKeySql(kind, 'host')} as host, resource.key as resource_class, sum(${amount}) as used
    from servers, ${claimsFromSql(kind)}, ${resources} where ${condition} group by 1, 2`;
}
