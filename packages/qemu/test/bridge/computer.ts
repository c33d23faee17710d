import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { eventually } from '../../../../testing/eventually.js';

const run = promisify(execFile);

/** A simulated computer with its own networks: a network namespace, in which others can be nested. */
export class Computer {
  readonly #holder: ChildProcess;

  private constructor() {
    this.#holder = spawn('unshare', ['--net', '--mount', 'sleep', 'infinity'], { stdio: 'ignore' });
  }

  static async open(): Promise<Computer> {
    const computer = new Computer();
    await eventually(() => {
      if (readFileSync(`/proc/${computer.pid}/cmdline`, 'utf8').startsWith('sleep')) return;
      throw new Error('the namespace is not there yet');
    });
    computer.inside('mount', '-t', 'tmpfs', 'none', '/run');
    computer.inside('ip', 'link', 'set', 'lo', 'up');
    return computer;
  }

  /** The process that keeps the namespace alive. */
  get pid(): number {
    return this.#holder.pid!;
  }

  /** Returns the command that runs a program on this computer. The command's process becomes that program. */
  readonly enter = (program: string, args: readonly string[]): [string, string[]] => [
    'nsenter',
    [`--net=/proc/${this.pid}/ns/net`, `--mount=/proc/${this.pid}/ns/mnt`, program, ...args],
  ];

  /** Runs a program on this computer and returns its output. */
  inside(program: string, ...args: readonly string[]): string {
    return execFileSync(...this.enter(program, args), { encoding: 'utf8' });
  }

  /** Like `inside()`, but asynchronous, for programs that take longer. */
  async outputOf(program: string, ...args: readonly string[]): Promise<string> {
    const { stdout } = await run(...this.enter(program, args), { encoding: 'utf8' });
    return stdout;
  }

  /** Returns the names of the driver's network devices and namespaces that exist. */
  left(): readonly string[] {
    const links: readonly { ifname: string }[] = JSON.parse(this.inside('ip', '-json', 'link', 'show'));
    const spaces: readonly { name: string }[] = JSON.parse(this.inside('ip', '-json', 'netns', 'list').trim() || '[]');
    const names = [...links.map(({ ifname }) => ifname), ...spaces.map(({ name }) => name)];
    return names.filter((name) => name.startsWith('aq'));
  }

  close(): void {
    this.#holder.kill('SIGKILL');
  }
}
