import { pino } from 'pino';
import request from 'supertest';
import { composeServer } from '../../src/compose.js';
import { observationFrom } from '../../src/observation.js';
import { planFrom } from '../../src/plan.js';
import { readOptions } from '../../src/read-options.js';

const URL = 'http://cloud.test:8774';

export interface CloudResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: any;
}

export interface Account {
  readonly user: string;
  readonly password: string;
  readonly project: string;
}

/** Starts the server with `--cloud` in this process, without a port. */
export async function startCloud(database: string, ...args: readonly string[]) {
  const options = readOptions(['--cloud', '--db', database, ...args], {});
  const observation = await observationFrom(options);
  const { app, cloud, engine, close } = await composeServer(
    planFrom(options, process.env, observation),
    database,
    pino({ level: 'silent' }),
  );
  const access = await cloud?.begin(URL);

  async function send(
    method: 'get' | 'post' | 'put' | 'patch' | 'delete',
    path: string,
    token: string | undefined,
    body?: object | string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<CloudResponse> {
    const sent = request(app)
      [method](path)
      .set({ ...(token && { 'X-Auth-Token': token }), ...headers });
    const { status, headers: received, body: json } = await (body === undefined ? sent : sent.send(body));
    return { status, headers: received, body: json };
  }

  async function logIn({ user, password, project }: Account): Promise<CloudResponse> {
    const domain = { id: 'default' };
    const identity = { methods: ['password'], password: { user: { name: user, domain, password } } };
    return send('post', '/identity/v3/auth/tokens', undefined, {
      auth: { identity, scope: { project: { name: project, domain } } },
    });
  }

  return {
    app,
    engine,
    /** The first administrator, if this start created it. */
    admin: access && { user: 'admin', password: access.settings.OS_PASSWORD, project: 'admin' },
    file: access?.file,
    send,
    logIn,
    /** Logs in to an account and returns the token. */
    async tokenOf(account: Account): Promise<string> {
      const { headers } = await logIn(account);
      return headers['x-subject-token'] ?? '';
    },
    stop: close,
  };
}

export type CloudUnderTest = Awaited<ReturnType<typeof startCloud>>;
