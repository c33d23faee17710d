/** A rule of the option `forward`, which forwards host ports to a guest port. */
export interface ForwardRule {
  /** The rule as the administrator wrote it. */
  readonly text: string;
  /** `NAME` or `PROJECT/NAME` of the servers to which the rule applies; null for all servers. */
  readonly server: string | null;
  readonly protocol: 'tcp' | 'udp';
  /** An inclusive range of host ports. Each port is forwarded to a different server. */
  readonly hostPorts: readonly [first: number, last: number];
  readonly guestPort: number;
}

/** QEMU runs as an unprivileged user, which cannot listen on ports below 1024. */
const MIN_HOST_PORT = 1024;
const MAX_PORT = 65_535;

const FORWARD_PATTERN = /^(?:(.{1,255}):)?(\d{1,5})(?:-(\d{1,5}))?:(\d{1,5})(?:\/(tcp|udp))?$/;

/**
 * Parses a forward rule: `[[PROJECT/]NAME:]HOSTPORT[-LAST]:GUESTPORT[/udp]`.
 *
 * @throws TypeError that states what is wrong with the rule
 */
export function parseForward(text: string): ForwardRule {
  const createError = (reason: string) => new TypeError(`forward: '${text}' ${reason}`);
  const match = FORWARD_PATTERN.exec(text);
  if (!match)
    throw createError('is not [NAME:]HOSTPORT[-LAST]:GUESTPORT[/udp], such as 2222:22, 2200-2299:22 or web:8080:80');
  const [, server = null, start = '', end = start, guest = '', protocol = 'tcp'] = match;
  const [first, last, guestPort] = [Number(start), Number(end), Number(guest)];
  if (first < MIN_HOST_PORT || last > MAX_PORT || first > last)
    throw createError(`has invalid host ports: use ${MIN_HOST_PORT} to ${MAX_PORT}, in ascending order`);
  if (guestPort < 1 || guestPort > MAX_PORT) throw createError(`has an invalid guest port: use 1 to ${MAX_PORT}`);
  return { text, server, protocol: protocol as 'tcp' | 'udp', hostPorts: [first, last], guestPort };
}
