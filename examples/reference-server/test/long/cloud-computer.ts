import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Computer } from '../../../../packages/qemu/test/bridge/computer.js';
import { processesOf } from '../../../../packages/qemu/test/processes-of.js';
import { machineDirectory } from '../../../../packages/qemu/test/qemu-cloud.js';
import { type Program, startProgram } from '../program.js';

const run = promisify(execFile);

/** A whole cloud with virtual machines and networks, on a simulated computer. */
export class CloudComputer {
  /** The current folder of the administrator's shell. */
  readonly folder = machineDirectory();
  computer!: Computer;
  program!: Program;

  async open(): Promise<void> {
    this.computer = await Computer.open();
    await this.start();
  }

  /** Starts the program, for the first time or after it ended. */
  async start(): Promise<void> {
    const machines = ['--machine-dir', join(this.folder, 'qemu'), '--acceleration', 'tcg'];
    const qemu = ['--driver', 'qemu', '--network-mode', 'bridge', ...machines];
    const cloud = ['--cloud', '--db', join(this.folder, 'cloud.db'), '--log-level', 'error', '--port', '8774'];
    this.program = await startProgram([...cloud, ...qemu], {}, this.computer.enter);
  }

  /** Runs shell commands on the cloud's computer, with the environment of the cloud's administrator. */
  async shell(commands: string): Promise<string> {
    const settings = { OS_CLIENT_CONFIG_FILE: join(this.folder, 'clouds.yaml'), OS_CLOUD: 'apistrata' };
    const script = `cd ${this.folder}\n${commands}`;
    const [enter, args] = this.computer.enter('bash', ['-euo', 'pipefail', '-c', script]);
    const { stdout } = await run(enter, args, { env: { ...process.env, ...settings } });
    return stdout.trim();
  }

  /** Ends the program and all machines, and removes all files. */
  async close(): Promise<void> {
    await this.program?.end('SIGKILL');
    // Machines and networks continue to exist after the program ends, so a failed test must remove them.
    for (const name of ['qemu-system', 'qemu-storage-daemon', 'dnsmasq'])
      for (const pid of processesOf(this.folder, name)) process.kill(pid, 'SIGKILL');
    this.computer?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
