import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from '../../../../../testing/servers.js';
import { PYTHON } from '../e2e/command-lines.js';

/** The path of the site's program in the distribution's package. */
const MANAGE = '/usr/share/openstack-dashboard/manage.py';

/** Whether the dashboard is installed. */
export function hasDashboard(): boolean {
  const script = `import openstack_dashboard, os; os.stat('${MANAGE}')`;
  return spawnSync(PYTHON, ['-W', 'ignore', '-c', script], { stdio: 'ignore' }).status === 0;
}

/** The dashboard, unmodified, in front of a cloud. */
export class DashboardSite {
  readonly url: string;
  readonly #process: ChildProcess;
  #log = '';

  private constructor(port: number, authUrl: string) {
    this.url = `http://127.0.0.1:${port}`;
    const args = ['-W', 'ignore', MANAGE, 'runserver', '--noreload', '--insecure', `127.0.0.1:${port}`];
    const env = {
      ...process.env,
      OS_AUTH_URL: authUrl,
      DJANGO_SETTINGS_MODULE: 'dashboard_settings',
      PYTHONPATH: import.meta.dirname,
      PYTHONDONTWRITEBYTECODE: '1',
    };
    this.#process = spawn(PYTHON, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.#process.stdout!, this.#process.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#log += text;
      });
  }

  /** Resolves when the dashboard responds to requests. */
  static async start(authUrl: string): Promise<DashboardSite> {
    const site = new DashboardSite(await freePort(), authUrl);
    while (!(await site.#isResponding())) {
      if (site.#process.exitCode !== null) throw new Error(`the dashboard ended:\n${site.#log}`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    return site;
  }

  async #isResponding(): Promise<boolean> {
    try {
      return (await fetch(`${this.url}/auth/login/`)).ok;
    } catch {
      return false;
    }
  }

  /** The lines in the dashboard's log that report failed requests. */
  get failures(): readonly string[] {
    return this.#log.split('\n').filter((line) => /^(?:ERROR|CRITICAL|Traceback)/.test(line));
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    const ended = once(this.#process, 'exit');
    this.#process.kill();
    await ended;
  }
}
