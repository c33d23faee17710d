import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findInstalledProgram, findProgram } from '../programs/find-program.js';
import { type ProgramOptions, runProgram } from '../programs/run-program.js';
import { QemuError } from '../qemu-error.js';
import type { DeviceNames } from './device-names.js';
import type { IpTool } from './ip-tool.js';
import { deriveInnerAddress, type WireguardPeer } from './wireguard-peer.js';

const RUN_OPTIONS: ProgramOptions = { runAs: undefined, timeoutMs: 60_000 };

export interface WireguardOptions {
  /** The folder that contains the private key. */
  readonly folder: string;
  readonly ip: IpTool;
  readonly names: DeviceNames;
  readonly port: number;
  readonly log: (line: string) => void;
}

/** The WireGuard interface that encrypts tunnels to other hosts. The interface outlives the host process. */
export class Wireguard {
  readonly #options: WireguardOptions;
  readonly #wg: string;
  readonly #keyFile: string;
  readonly device: string;
  readonly publicKey: string;
  /** This host's IPv6 address inside encrypted tunnels. */
  readonly address: string;

  private constructor(options: WireguardOptions, wg: string, keyFile: string, publicKey: string) {
    this.#options = options;
    this.#wg = wg;
    this.#keyFile = keyFile;
    this.device = options.names.wireguard;
    this.publicKey = publicKey;
    this.address = deriveInnerAddress(publicKey);
  }

  /**
   * Creates the WireGuard interface unless it exists, and a private key unless the folder contains one.
   *
   * @throws QemuError `QEMU_MISSING` or `NETWORKS_UNAVAILABLE`; the message states the fix
   */
  static async open(options: WireguardOptions): Promise<Wireguard> {
    const { folder, ip, log } = options;
    const wg = findProgram('wg', 'the package wireguard-tools');
    const keyFile = join(folder, 'wireguard.key');
    const key = await readFile(keyFile, 'utf8').catch(async () => {
      const newKey = await runProgram(wg, ['genkey'], RUN_OPTIONS);
      await writeFile(`${keyFile}.new`, newKey, { mode: 0o600 });
      await rename(`${keyFile}.new`, keyFile);
      return newKey;
    });
    const publicKey = (await runProgram(wg, ['pubkey'], { ...RUN_OPTIONS, input: key })).trim();
    const wireguard = new Wireguard(options, wg, keyFile, publicKey);
    const { device, address } = wireguard;
    const existingAddresses = (await ip.addresses()).find(({ ifname }) => ifname === device);
    // The interface was configured for a key that has been replaced.
    if (existingAddresses && !existingAddresses.addr_info.some(({ local }) => local === address))
      await ip.batch([`link delete dev ${device}`]);
    const program = await wireguard.#ensureInterface();
    if (program) log(`this kernel has no WireGuard: ${program} encrypts the tunnels to other hosts`);
    return wireguard;
  }

  get port(): number {
    return this.#options.port;
  }

  /**
   * Creates the WireGuard interface unless it exists. Returns the program that implements it, if one had to be started.
   */
  async #ensureInterface(): Promise<string | undefined> {
    const { ip } = this.#options;
    const { device } = this;
    if ((await ip.links()).some(({ ifname }) => ifname === device)) return undefined;
    try {
      await ip.batch([`link add dev ${device} type wireguard`]);
      return undefined;
    } catch {
      const program = findInstalledProgram('wireguard-go');
      if (!program)
        throw new QemuError(
          'NETWORKS_UNAVAILABLE',
          'this kernel has no WireGuard, which encrypts tunnels: load its module, or install the package wireguard-go',
        );
      await runProgram(program, [device], RUN_OPTIONS);
      return program;
    }
  }

  /** Configures the WireGuard interface with the given peers. */
  async configurePeers(peers: readonly WireguardPeer[]): Promise<void> {
    const { device, address, port } = this;
    await this.#ensureInterface();
    await this.#options.ip.batch([`link set dev ${device} up`, `address replace ${address}/64 dev ${device}`]);
    const currentKeys = (await runProgram(this.#wg, ['show', device, 'peers'], RUN_OPTIONS))
      .split('\n')
      .filter(Boolean);
    const peerKeys = new Set(peers.map(({ publicKey }) => publicKey));
    const staleKeys = currentKeys.filter((key) => !peerKeys.has(key));
    await runProgram(
      this.#wg,
      [
        ...['set', device, 'private-key', this.#keyFile, 'listen-port', `${port}`],
        ...staleKeys.flatMap((key) => ['peer', key, 'remove']),
        ...peers.flatMap((peer) => [
          ...['peer', peer.publicKey, 'allowed-ips', `${deriveInnerAddress(peer.publicKey)}/128`],
          ...['endpoint', `${peer.address.includes(':') ? `[${peer.address}]` : peer.address}:${peer.port}`],
        ]),
      ],
      RUN_OPTIONS,
    );
  }
}
