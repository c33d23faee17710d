import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { bundledProgram } from '../../../../testing/bundled-program.js';
import { defaultSettings } from '../../src/core/settings.js';
import { noMachines } from '../../src/drivers/no-machines.js';
import { createEngine } from '../../src/engine/create-engine.js';
import type { Engine } from '../../src/engine/engine.js';
import { checkDatabase } from '../../src/maintenance/check-database.js';
import type { Server } from '../../src/model/index.js';
import { defaultPreset } from '../../src/preset/preset.js';
import { contextOf, imageId } from '../engine-under-test.js';

const PROGRAM = join(import.meta.dirname, 'host-process.mjs');

export const admin = () => contextOf('p1', { isAdmin: true });

/** A request as stored in the database; its content is encrypted. */
export interface SeenRequest {
  readonly id: string;
  readonly host: string;
  readonly begun_by: string | null;
  readonly answered_at: string | null;
}

/** An engine without machines, and host processes. */
export class HostCloud {
  readonly #database: string;
  readonly #folder: string;
  readonly #children = new Set<ChildProcess>();
  readonly #client: pg.Client;
  readonly engine: Engine;

  private constructor(database: string, folder: string, engine: Engine, client: pg.Client) {
    this.#database = database;
    this.#folder = folder;
    this.engine = engine;
    this.#client = client;
  }

  /**
   * @param executesJobs whether this process executes jobs
   */
  static async open(database: string, folder: string, executesJobs = true): Promise<HostCloud> {
    process.env.APISTRATA_SECRET_KEY ??= randomBytes(32).toString('base64');
    const engine = await createEngine({
      database,
      driver: noMachines(),
      preset: { ...defaultPreset, hosts: [] },
      settings: { quotas: { ...defaultSettings.quotas, instances: -1, cores: -1, ram: -1 } },
      worker: executesJobs && { leaseMs: 1000, pollMs: 200, retryMs: 100 },
    });
    const client = new pg.Client(database);
    await client.connect();
    return new HostCloud(database, folder, engine, client);
  }

  /** Starts a host, or another API process if no name is given, and waits until it is up. */
  async start(name?: string, latencyMs = 0): Promise<ChildProcess> {
    const given = { database: this.#database, name, directory: join(this.#folder, name ?? ''), latencyMs };
    const args = [await bundledProgram(PROGRAM), JSON.stringify(given)];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#children.add(child);
    await Promise.race([
      once(createInterface(child.stdout!), 'line'),
      once(child, 'exit').then(([code]) => Promise.reject(new Error(`the process ended by itself, with ${code}`))),
    ]);
    return child;
  }

  async kill(child: ChildProcess): Promise<void> {
    const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
    child.kill('SIGKILL');
    await ended;
    this.#children.delete(child);
  }

  async create(host: string): Promise<Server> {
    const newServer = { name: 'web', flavorId: '1', imageId, networks: 'none', host } as const;
    return (await this.engine.servers.create(admin(), newServer)).servers[0]!;
  }

  see(id: string): Promise<Server> {
    return this.engine.servers.get(admin(), id);
  }

  /**
   * Returns the report of the database check about incorrectly counted capacity; undefined if the capacity is correct.
   */
  async miscounted(): Promise<string | undefined> {
    const findings = await checkDatabase(this.#database);
    return findings.find(({ what, good }) => what === 'capacity' && !good)?.reported;
  }

  /** Returns the server when no task is in progress. */
  async settled(id: string): Promise<Server> {
    await this.until(async () => (await this.see(id)).jobId === null);
    return this.see(id);
  }

  async until(holds: () => Promise<boolean>): Promise<void> {
    for (const deadline = Date.now() + 40_000; !(await holds()); ) {
      if (Date.now() > deadline) throw new Error('the expected state was not reached');
      await new Promise((resolve) => setTimeout(resolve, 15));
    }
  }

  async orders(): Promise<readonly SeenRequest[]> {
    const { rows } = await this.#client.query('select id, host, begun_by, answered_at from host_orders');
    return rows;
  }

  /** Returns the ids of the servers that have a machine on a host. */
  machinesOn(name: string): string[] {
    const folder = join(this.#folder, name);
    if (!existsSync(folder)) return [];
    return readdirSync(folder).flatMap((file) => (file.endsWith('.json') ? [file.slice(0, -'.json'.length)] : []));
  }

  async close(): Promise<void> {
    for (const child of this.#children) await this.kill(child);
    await this.engine.close();
    await this.#client.end();
  }
}
