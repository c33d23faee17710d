import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PROGRAM_ENVIRONMENT } from '../programs/run-program.js';
import type { DeviceNames } from './device-names.js';
import type { DhcpFiles } from './dhcp-files.js';
import type { IpTool } from './ip-tool.js';

const POLL_INTERVAL_MS = 20;
const START_TIMEOUT_MS = 60_000;

/** Writes a file unless it already has the same content. @returns true if the content was different */
async function writeIfChanged(path: string, text: string): Promise<boolean> {
  if ((await readFile(path, 'utf8').catch(() => undefined)) === text) return false;
  await writeFile(path, text, { mode: 0o644 });
  return true;
}

/**
 * The networks' DHCP servers, which are separate processes that outlive the host process. Each has a folder, named
 * after its namespace, for the configuration files and the pid file.
 */
export class DhcpServers {
  readonly #folder: string;
  readonly #program: string;
  readonly #ip: IpTool;
  readonly #names: DeviceNames;

  constructor(folder: string, program: string, ip: IpTool, names: DeviceNames) {
    this.#folder = folder;
    this.#program = program;
    this.#ip = ip;
    this.#names = names;
  }

  folderOf(namespace: string): string {
    return join(this.#folder, namespace);
  }

  /** Returns the namespaces that have or had a DHCP server. */
  async namespaces(): Promise<readonly string[]> {
    return (await readdir(this.#folder).catch(() => [])).filter((name) => this.#names.isManaged(name));
  }

  /**
   * Starts a namespace's DHCP server with the given files; a running server reloads them, or is restarted if necessary.
   */
  async startOrReload(namespace: string, { configuration, hosts, options }: DhcpFiles): Promise<void> {
    const folder = this.folderOf(namespace);
    // dnsmasq reads its files as an unprivileged user.
    await mkdir(folder, { recursive: true, mode: 0o755 });
    const pid = await this.#findServerProcess(namespace);
    const hasNewConfiguration = await writeIfChanged(join(folder, 'configuration'), configuration);
    const rewriteResults = [
      await writeIfChanged(join(folder, 'hosts'), hosts),
      await writeIfChanged(join(folder, 'options'), options),
    ];
    if (pid !== undefined && !hasNewConfiguration) {
      if (rewriteResults.includes(true)) this.#signal(pid, 'SIGHUP');
      return;
    }
    await this.#end(namespace);
    await this.#start(namespace);
  }

  /** Stops a namespace's DHCP server and removes its files. */
  async remove(namespace: string): Promise<void> {
    await this.#end(namespace);
    await rm(this.folderOf(namespace), { recursive: true, force: true });
  }

  async #start(namespace: string): Promise<void> {
    const file = join(this.folderOf(namespace), 'configuration');
    const [program, args] = this.#ip.namespaceCommand(namespace, this.#program, [
      '--keep-in-foreground',
      `--conf-file=${file}`,
    ]);
    const child = spawn(program, [...args], { detached: true, stdio: 'ignore', env: PROGRAM_ENVIRONMENT });
    child.unref();
    const spawnFailure = once(child, 'error').then(([error]) => Promise.reject(error));
    const earlyExit = once(child, 'exit').then(([code]) =>
      Promise.reject(
        new Error(
          `${this.#program} exited with ${code}; to reproduce: ip netns exec ${namespace} dnsmasq -d -C ${file}`,
        ),
      ),
    );
    const waitUntilReady = async () => {
      for (const deadline = Date.now() + START_TIMEOUT_MS; Date.now() < deadline; await sleep(POLL_INTERVAL_MS))
        if ((await this.#findServerProcess(namespace)) !== undefined) return;
    };
    for (const promise of [spawnFailure, earlyExit]) promise.catch(() => {});
    await Promise.race([waitUntilReady(), spawnFailure, earlyExit]);
  }

  async #end(namespace: string): Promise<void> {
    for (let signal: NodeJS.Signals | 0 = 'SIGKILL'; ; signal = 0) {
      const pid = await this.#findServerProcess(namespace);
      if (pid === undefined) break;
      this.#signal(pid, signal);
      await sleep(POLL_INTERVAL_MS);
    }
    await rm(join(this.folderOf(namespace), 'pid'), { force: true });
  }

  #signal(pid: number, signal: NodeJS.Signals | 0): void {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }

  /** Returns the id of a DHCP server's process, whose command line must match, because process ids are reused. */
  async #findServerProcess(namespace: string): Promise<number | undefined> {
    const folder = this.folderOf(namespace);
    const pid = Number(await readFile(join(folder, 'pid'), 'utf8').catch(() => ''));
    if (!(pid > 0)) return undefined;
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return commandLine.includes(join(folder, 'configuration')) ? pid : undefined;
  }
}
