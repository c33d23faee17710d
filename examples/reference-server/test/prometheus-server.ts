import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freeRange } from '../../../packages/qemu/test/forwarded-port.js';
import { eventually } from '../../../testing/eventually.js';

/** A sample of an instant vector. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A rule, as Prometheus reports it. */
export interface EvaluatedRule {
  readonly name: string;
  readonly health: string;
  readonly lastError?: string;
}

/** Returns the name of the missing package; undefined if Prometheus is installed. */
export function missingForPrometheus(): string | undefined {
  const isInstalled = ['prometheus', 'promtool'].every((name) => spawnSync(name, ['--version']).status === 0);
  return isInstalled ? undefined : 'prometheus';
}

/** A Prometheus server, which scrapes targets and evaluates rules every second. */
export class PrometheusServer {
  readonly #folder: string;
  readonly #child: ChildProcess;
  readonly #url: string;

  private constructor(folder: string, child: ChildProcess, url: string) {
    this.#folder = folder;
    this.#child = child;
    this.#url = url;
  }

  /** @param targets URLs of metrics endpoints */
  static async start(job: string, targets: readonly string[], rules: string): Promise<PrometheusServer> {
    const folder = mkdtempSync(join(tmpdir(), 'apistrata-prometheus-'));
    const address = `127.0.0.1:${await freeRange(1)}`;
    const hosts = targets.map((target) => new URL(target).host);
    // JSON is also valid YAML.
    const configuration = {
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: [rules],
      scrape_configs: [{ job_name: job, static_configs: [{ targets: hosts }] }],
    };
    writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(configuration));
    const args = [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`];
    const child = spawn('prometheus', [...args, `--web.listen-address=${address}`], { stdio: 'ignore' });
    process.once('exit', () => child.kill('SIGKILL'));
    const server = new PrometheusServer(folder, child, `http://${address}`);
    await eventually(async () => {
      if (child.exitCode !== null) throw new Error(`prometheus ended with ${child.exitCode}`);
      const { status } = await fetch(`http://${address}/-/ready`);
      if (status !== 200) throw new Error(`prometheus responds with ${status}`);
    });
    return server;
  }

  /** Executes an expression. If the expression is invalid, rejects with the error message of Prometheus. */
  async query(query: string): Promise<readonly Sample[]> {
    const { result, resultType } = await this.#get(`query?${new URLSearchParams({ query })}`);
    if (resultType !== 'vector') throw new Error(`${query} is a ${resultType}`);
    return result.map(({ metric, value }: any) => ({ labels: metric, value: Number(value[1]) }));
  }

  /** Returns the values of a dashboard variable that Grafana queries with `label_values(SELECTOR, LABEL)`. */
  labelValues(selector: string, label: string): Promise<readonly string[]> {
    return this.#get(`label/${label}/values?${new URLSearchParams({ 'match[]': selector })}`);
  }

  async rules(): Promise<readonly EvaluatedRule[]> {
    const { groups } = await this.#get('rules');
    return groups.flatMap(({ rules }: any) => rules);
  }

  /** Returns the labels of pending and firing alerts. */
  async alerts(): Promise<readonly Readonly<Record<string, string>>[]> {
    const { alerts } = await this.#get('alerts');
    return alerts.map(({ labels }: any) => labels);
  }

  async #get(path: string): Promise<any> {
    const { status, error, data } = (await (await fetch(`${this.#url}/api/v1/${path}`)).json()) as any;
    if (status !== 'success') throw new Error(error);
    return data;
  }

  async end(): Promise<void> {
    const ended = this.#child.exitCode === null ? once(this.#child, 'exit') : undefined;
    this.#child.kill('SIGKILL');
    await ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
