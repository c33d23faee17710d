import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { vi } from 'vitest';

/** The request that created a container, and the process that represents the container. */
interface Container {
  readonly Image: string;
  readonly Cmd: readonly string[];
  readonly ExposedPorts: Readonly<Record<string, object>>;
  process?: ChildProcess;
  port?: string;
}

async function bodyOf(req: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of req) text += chunk;
  return text;
}

/** Lets Testcontainers find an engine in this process until `vi.unstubAllEnvs()`. */
export function useContainerEngine({ host }: { readonly host: string }): void {
  vi.stubEnv('DOCKER_HOST', host);
  vi.stubEnv('TESTCONTAINERS_HOST_OVERRIDE', '127.0.0.1');
  // Disables the container that cleans up after a test process has ended.
  vi.stubEnv('TESTCONTAINERS_RYUK_DISABLED', 'true');
}

/**
 * Serves the part of Docker's API that starts and stops containers, on a separate socket. A test cloud process
 * represents each container, because tests also run on machines without Docker.
 */
export async function startContainerEngine(program: string) {
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-engine-'));
  const socket = join(folder, 'engine.sock');
  const containers: Container[] = [];
  const containerOf = (id: string): Container => {
    const container = containers[Number(id)];
    if (!container) throw new Error(`unknown container ${id}`);
    return container;
  };

  async function start(container: Container): Promise<void> {
    const args = [program, '--port', '0', '--quiet', ...container.Cmd];
    const started = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    container.process = started;
    for await (const line of createInterface({ input: started.stdout })) {
      container.port = /OS_AUTH_URL=http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1] ?? container.port;
      if (container.port) return;
    }
  }

  async function stop({ process }: Container): Promise<void> {
    if (!process || process.exitCode !== null || process.signalCode !== null) return;
    const ended = once(process, 'exit');
    process.kill();
    await ended;
  }

  const inspected = (id: string, { Image, ExposedPorts, process, port }: Container) => ({
    Id: id,
    Name: `/container-${id}`,
    Created: new Date(0).toISOString(),
    State: { Running: process?.exitCode === null, Status: 'running' },
    Config: { Image, Hostname: 'container', Labels: {} },
    HostConfig: { PortBindings: {} },
    NetworkSettings: {
      Networks: {},
      Ports: Object.fromEntries(
        Object.keys(ExposedPorts).map((name) => [name, [{ HostIp: '0.0.0.0', HostPort: port }]]),
      ),
    },
  });

  /** Requests that this engine serves, by method and path; the first group is the container's id. */
  const routes: readonly (readonly [RegExp, (id: string, body: string) => unknown])[] = [
    [
      /^GET \/info/,
      () => ({ ServerVersion: '28.0.0', OperatingSystem: 'test', OSType: 'linux', Architecture: 'x86_64' }),
    ],
    [/^GET \/images\//, () => ({ Id: 'sha256:0', Config: {} })],
    [/^GET \/containers\/json/, () => []],
    [
      /^POST \/containers\/create/,
      (_, body) => ({ Id: String(containers.push({ Cmd: [], ...JSON.parse(body) }) - 1), Warnings: [] }),
    ],
    [/^POST \/containers\/(\d+)\/start/, (id) => start(containerOf(id))],
    [/^GET \/containers\/(\d+)\/json/, (id) => inspected(id, containerOf(id))],
    [/^POST \/containers\/(\d+)\/stop/, (id) => stop(containerOf(id))],
    [/^DELETE \/containers\/(\d+)/, () => undefined],
  ];

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = await bodyOf(req);
    const line = `${req.method} ${req.url}`;
    const [pattern, handle] = routes.find(([matching]) => matching.test(line)) ?? [];
    const result = await handle?.(pattern?.exec(line)?.[1] ?? '', body);
    const status = handle ? (result === undefined ? 204 : line.startsWith('POST') ? 201 : 200) : 404;
    res
      .writeHead(status, { 'Content-Type': 'application/json' })
      .end(status === 204 ? undefined : JSON.stringify(result ?? {}));
  }

  const server = createServer((req, res) => {
    serve(req, res).catch((error: Error) => res.writeHead(500).end(JSON.stringify({ message: error.message })));
  }).listen(socket);
  await once(server, 'listening');
  return {
    host: `unix://${socket}`,
    containers: containers as readonly Container[],
    async close(): Promise<void> {
      await Promise.all(containers.map(stop));
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
