import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { testServers } from './test-servers.mjs';

const PYTHON = '/usr/bin/python3';
/** The path of the dashboard's program in the package of the Linux distribution. */
const MANAGE = '/usr/share/openstack-dashboard/manage.py';
const SETTINGS = join(import.meta.dirname, '../packages/test-cloud/test/long/clients');

/** Starts the unmodified dashboard and logs in as a user of the cloud. Pages are requested without a browser. */
export async function openDashboard(authUrl, { OS_USERNAME: username, OS_PASSWORD: password }) {
  const { freePort } = await testServers();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const args = ['-W', 'ignore', MANAGE, 'runserver', '--noreload', '--insecure', `127.0.0.1:${port}`];
  const child = spawn(PYTHON, args, {
    env: { ...process.env, OS_AUTH_URL: authUrl, DJANGO_SETTINGS_MODULE: 'dashboard_settings', PYTHONPATH: SETTINGS },
    stdio: 'ignore',
  });
  const cookies = new Map();
  const sendRequest = async (path, options = {}) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...options.headers, cookie, referer: `${url}/auth/login/` };
    const response = await fetch(`${url}/${path}`, { redirect: 'manual', ...options, headers });
    for (const set of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(set);
      cookies.set(name, value);
    }
    return { status: response.status, text: await response.text() };
  };
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the dashboard ended with ${child.exitCode}`);
    const login = await sendRequest('auth/login/').catch(() => undefined);
    if (login?.status === 200) {
      const [, token] = /name="csrfmiddlewaretoken" value="([^"]+)"/.exec(login.text);
      const region = /name="region"[^>]*value="([^"]*)"/.exec(login.text)?.[1] ?? 'default';
      const body = new URLSearchParams({ csrfmiddlewaretoken: token, username, password, region, next: '/project/' });
      const { status } = await sendRequest('auth/login/', { method: 'POST', body });
      if (status !== 302) throw new Error(`the dashboard rejected the login with status ${status}`);
      break;
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return {
    /** @throws Error if the page is not shown */
    open: async (path) => {
      const { status } = await sendRequest(path);
      if (status !== 200) throw new Error(`the dashboard shows no ${path}: ${status}`);
    },
    close: async () => {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    },
  };
}
