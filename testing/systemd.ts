import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from './eventually.js';

const run = promisify(execFile);
const MANAGER = '/lib/systemd/systemd';
const GROUPS = '/sys/fs/cgroup';
const DEVICES = join(GROUPS, 'devices');
const NAMESPACES = [
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

/** Targets that units refer to. Targets of the computer would start its services. */
const TARGETS = ['sysinit', 'basic', 'shutdown', 'network-online', 'multi-user'];

/**
 * Mounts what the manager needs in its namespaces: its own control groups, and folders for device files and for the
 * state of programs that do not change those of the computer.
 */
const PREPARE = `
mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system /run/lock /run/dev/files /run/dev/work && ip link set lo up
mount -t overlay -o lowerdir=/dev,upperdir=/run/dev/files,workdir=/run/dev/work overlay /dev
if [ -e ${GROUPS}/cgroup.controllers ]; then umount --lazy ${GROUPS} && mount -t cgroup2 none ${GROUPS}
else
  devices=$(test ! -e ${DEVICES} || echo devices)
  mount -t tmpfs tmpfs ${GROUPS}
  for name in systemd $devices; do
    mkdir ${GROUPS}/$name
    options=$(test $name = systemd && echo none,name=systemd || echo $name)
    mount -t cgroup -o $options $name ${GROUPS}/$name
  done
  mount -o remount,ro ${GROUPS}
fi
`;
/** Messages of programs that lack a right, and of kernels that lack a file system. */
const MISSING_RIGHT = /not permitted|permission denied|unknown filesystem/i;

/**
 * Returns the folders of control groups that systemd manages: one for version 2, which also limits devices; for version
 * 1, one for processes and, if the computer has it, one for devices.
 */
function hierarchies(): readonly string[] {
  const unified = existsSync(join(GROUPS, 'cgroup.controllers'));
  const folders = unified ? [GROUPS] : [join(GROUPS, 'systemd'), DEVICES];
  return folders.filter((folder) => existsSync(join(folder, 'cgroup.procs')));
}

/** Adds targets to a folder of units, to which these refer. */
function addTargets(units: string): void {
  for (const name of TARGETS)
    writeFileSync(join(units, `${name}.target`), `[Unit]\nDescription=${name}\nDefaultDependencies=no\n`);
}

/** Returns the shell command that becomes systemd, in its own namespaces and without the units of the computer. */
function managerCommand(units: string, unit: string): string {
  const options = ['--system', `--unit=${unit}`, '--log-target=console', '--show-status=no'];
  const environment = `container=test SYSTEMD_UNIT_PATH=${units}`;
  return `exec unshare ${NAMESPACES.join(' ')} sh -ec '${PREPARE} ${environment} exec ${MANAGER} ${options.join(' ')}'`;
}

/**
 * Adds targets to a folder of units, and returns the shell command that runs one of the units in systemd. The command
 * ends with the unit if the unit contains `SuccessAction=exit-force` and `FailureAction=exit-force`.
 */
export function commandForUnit(units: string, unit: string): string {
  addTargets(units);
  return managerCommand(units, unit);
}

function removeGroups(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) removeGroups(join(folder, entry.name));
  rmdirSync(folder);
}

/** A running systemd as the first process of its own namespaces: processes, mounts, networks and control groups. */
export class Systemd {
  readonly #groups: readonly string[];
  readonly #outer: ChildProcess;
  #log = '';

  private constructor(units: string, groups: readonly string[]) {
    this.#groups = groups;
    // The process joins the control groups first, so that it sees them as the roots of all groups.
    const enter = groups.map((group) => `echo $$ >${group}/cgroup.procs`).join(' && ');
    this.#outer = spawn('sh', ['-ec', `${enter} && ${managerCommand(units, 'multi-user.target')}`], {
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
    if (hierarchies().length === 0) return 'control groups';
    const { stderr } = spawnSync('unshare', [...NAMESPACES, 'sh', '-ec', PREPARE], { encoding: 'utf8' });
    // Other errors are not requirements of the computer: `start()` fails with them.
    return MISSING_RIGHT.test(stderr) ? `right to mount control groups in namespaces (${stderr.trim()})` : undefined;
  }

  /** Returns the missing requirement for units with a device policy; undefined if all are met. */
  static missingForDevices(): string | undefined {
    const enforces = hierarchies().some((folder) => folder === GROUPS || folder === DEVICES);
    return Systemd.missing() ?? (enforces ? undefined : 'control groups for devices');
  }

  /**
   * Starts systemd with the units in a folder, to which the targets are added.
   *
   * @throws Error with its output if it does not start
   */
  static async start(units: string): Promise<Systemd> {
    addTargets(units);
    const systemd = new Systemd(
      units,
      hierarchies().map((folder) => mkdtempSync(join(folder, 'apistrata-test-'))),
    );
    try {
      await eventually(async () => {
        if (systemd.#outer.exitCode === null) await systemd.run('systemctl', 'is-active', 'multi-user.target');
      });
      if (systemd.#outer.exitCode === null) return systemd;
      throw new Error(`it ended with ${systemd.#outer.exitCode}`);
    } catch (error) {
      await systemd.stop();
      throw new Error(`systemd does not start: ${(error as Error).message}\n${systemd.log}`);
    }
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

  /** Runs a shell command in its namespaces, as a process of a unit, and returns the output. */
  async runInUnit(unit: string, command: string): Promise<string> {
    const group = await this.run('systemctl', 'show', '--property=ControlGroup', '--value', unit);
    const folder = hierarchies().includes(DEVICES) ? DEVICES : GROUPS;
    return this.run('sh', '-ec', `echo $$ >${folder}${group}/cgroup.procs\n${command}`);
  }

  /** The output of the manager and of its services. */
  get log(): string {
    return this.#log;
  }

  /** Ends systemd with all of its processes. */
  async stop(): Promise<void> {
    this.#outer.kill('SIGKILL');
    await eventually(() => {
      for (const group of this.#groups.filter((folder) => existsSync(folder))) removeGroups(group);
    });
  }
}
