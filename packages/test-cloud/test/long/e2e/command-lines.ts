import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The interpreter of the system, for which its packages are installed. */
export const PYTHON = '/usr/bin/python3';

export type ClientName = 'openstack' | 'nova' | 'glance' | 'cinder' | 'neutron';

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The highest compute version that the installed clients support; undefined if they are not installed. */
export function highestKnownVersion(): string | undefined {
  const script = 'import novaclient, openstackclient.shell, openstack; print(novaclient.API_MAX_VERSION.get_string())';
  try {
    return execFileSync(PYTHON, ['-W', 'ignore', '-c', script], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return undefined;
  }
}

/** Whether the client is installed, and the Python module of its plugin. */
export function hasClient(client: ClientName, plugin?: string): boolean {
  const script = `import ${[`${client}client.shell`, plugin ?? []].flat().join(', ')}`;
  return spawnSync(PYTHON, ['-W', 'ignore', '-c', script], { stdio: 'ignore' }).status === 0;
}

/** Prints a warning about skipped tests on a machine without the clients. */
export function warnWithoutClients(highest: string | undefined, what: string): void {
  if (highest === undefined)
    console.warn(
      `\n*** SKIPPED: ${what}: this machine has no python3-openstackclient, python3-novaclient, python3-openstacksdk ***\n`,
    );
}

/** A command line, with quotes. */
export function words(command: string): string[] {
  return [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!);
}

/** The command-line clients, unmodified; commands run sequentially. */
export class CommandLines {
  readonly #process: ChildProcess;
  readonly #responses: AsyncIterator<string>;

  constructor() {
    const script = fileURLToPath(new URL('./command_lines.py', import.meta.url));
    this.#process = spawn(PYTHON, ['-W', 'ignore', script], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#responses = createInterface({ input: this.#process.stdout! })[Symbol.asyncIterator]();
  }

  async run(
    client: ClientName,
    argv: readonly string[],
    env: Readonly<Record<string, string>>,
  ): Promise<CommandResult> {
    this.#process.stdin!.write(`${JSON.stringify({ client, argv, env })}\n`);
    const { value } = await this.#responses.next();
    if (value === undefined) throw new Error('the clients ended');
    return JSON.parse(value) as CommandResult;
  }

  close(): void {
    this.#process.stdin!.end();
  }
}
