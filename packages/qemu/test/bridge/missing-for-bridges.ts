import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

function runs(program: string, ...args: readonly string[]): boolean {
  try {
    execFileSync(program, [...args], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Returns a requirement for bridges that this computer does not meet; undefined if it meets all. */
export function missingForBridges(): string | undefined {
  if (process.getuid?.() !== 0) return 'root';
  if (!runs('nft', '--version')) return 'nftables';
  if (!runs('dnsmasq', '--version')) return 'dnsmasq-base';
  if (!runs('ip', '-V')) return 'iproute2';
  if (!runs('unshare', '--net', '--mount', 'ip', 'link', 'add', 'test', 'type', 'bridge')) return 'network namespaces';
  if (!existsSync('/proc/sys/net/bridge')) return 'br_netfilter';
  return undefined;
}
