import { canonicalIp, cidrOf } from '@apistrata/compute-engine/catalogs';

/** Returns the netmask of a CIDR, such as `255.255.255.0`. */
export function netmaskOf(cidr: string): string {
  const { version, prefix } = cidrOf(cidr);
  const [count, size] = version === 4 ? [4, 8] : [8, 16];
  const parts = Array.from({ length: count }, (_, index) => {
    const bits = Math.min(Math.max(prefix - index * size, 0), size);
    return 2 ** size - 2 ** (size - bits);
  });
  return version === 4 ? parts.join('.') : canonicalIp(parts.map((part) => part.toString(16)).join(':'));
}
