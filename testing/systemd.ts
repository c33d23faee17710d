import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from './eventually.js';

const run = promisify(execFile);
const MANAGER = '/lib/systemd/systemd';
const GROUPS = '/sys/fs/cgroup';

/** Targets that units refer to. Targets of the computer would start its services. */
const TARGETS = ['sysinit', 'basic', 'shutdown', 'network-online', 'multi-user'];

/** Starts the manager in its namespaces, with its own control groups and without the units of the computer. */
const BEGIN = `
mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system /run/lock && ip link set lo up
if [ -e ${GROUPS}/cgroup.controllers ]; then mount -t cgroup2 none ${GROUPS}
else
  mount -t tmpfs tmpfs ${GROUPS} && mkdir ${GROUPS}/systemd
  mount -t cgroup -o none,name=systemd systemd ${GROUPS}/systemd && mount -o remount,ro ${GROUPS}
fi
exec ${MANAGER} --system --unit=multi-user.target --log-target=console --show-status=no
`;

/** Returns the folder of control groups that systemd manages. */
function hierarchy(): string | undefined {
  return [GROUPS, join(GROUPS, 'systemd')].find((folder) => existsSync(join(folder, 'cgroup.procs')));
}

function removeGroups(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) removeGroups(join(folder, entry.name));
  rmdirSync(folder);
}

/** A running systemd as the first process of its own namespaces: processes, mounts, networks and control groups. */
export class Systemd {
  readonly #group: string;
  readonly #outer: ChildProcess;
  #log = '';

  private constructor(units: string, group: string) {
    this.#group = group;
    const namespaces = [
      '--pid',
      '--fork',
      '--kill-child',
      '--mount',
      '--mount-proc',
      '--cgroup',
      '--ipc',
      '--uts',
      '--net',
    ];
    // The process joins the control group first, so that it sees this group as the root of all groups.
    const command = `echo $$ >${group}/cgroup.procs && exec unshare ${namespaces.join(' ')} sh -ec "$BEGIN"`;
    this.#outer = spawn('sh', ['-ec', command], {
      env: { ...process.env, BEGIN, container: 'test', SYSTEMD_UNIT_PATH: units },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#outer.stdout, this.#outer.stderr])
      stream?.on('data', (chunk) => {
        this.#log += chunk;
      });
  }

  /** Returns the missing requirement for running systemd on this computer; undefined if all are met. */
  static missing(): string | undefined {
    if (process.getuid?.() !== 0) return 'root';
    if (!existsSync(MANAGER)) return 'systemd';
    if (!hierarchy()) return 'control groups';
    return undefined;
  }

  /**
   * Starts systemd with the units in a folder, to which the targets are added.
   *
   * @throws Error with its output if it does not start, such as in containers without the right to mount control groups
   */
  static async start(units: string): Promise<Systemd> {
    for (const name of TARGETS)
      writeFileSync(join(units, `${name}.target`), `[Unit]\nDescription=${name}\nDefaultDependencies=no\n`);
    const group = join(hierarchy() ?? GROUPS, `apistrata-test-${process.pid}`);
    mkdirSync(group, { recursive: true });
    const systemd = new Systemd(units, group);
    await eventually(async () => {
      if (systemd.#outer.exitCode !== null) return;
      await systemd.run('systemctl', 'is-active', 'multi-user.target');
    });
    if (systemd.#outer.exitCode === null) return systemd;
    removeGroups(group);
    throw new Error(`systemd does not start: ${systemd.#log}`);
  }

  /** The process id of the manager, as seen from outside. */
  get #pid(): string {
    const { pid } = this.#outer;
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  }

  /** Returns the command that runs a program in its namespaces. */
  readonly enter = (program: string, args: readonly string[]): [string, string[]] => [
    'nsenter',
    ['--target', this.#pid, '--all', program, ...args],
  ];

  /** Runs a program in its namespaces, and returns the output. @throws the error of the program */
  async run(program: string, ...args: readonly string[]): Promise<string> {
    const { stdout } = await run(...this.enter(program, args));
    return stdout.trim();
  }

  /** The output of the manager and of its services. */
  get log(): string {
    return this.#log;
  }

  /** Ends systemd with all of its processes. */
  async stop(): Promise<void> {
    this.#outer.kill('SIGKILL');
    await eventually(() => removeGroups(this.#group));
  }
}
