import { createHash, randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { rulesOf } from '../actions/action-table.js';
import { checkAction } from '../actions/runner/check-action.js';
import type { Context } from '../core/context.js';
import type { Core } from '../core/core.js';
import { badRequest, conflict, notFound } from '../errors/refusal.js';
import type { ConsoleToken, Server } from '../model/index.js';
import { tables } from '../schema/tables.js';

/** Where the pages of the console proxy are, below its base address; the token follows. */
const pages: Readonly<Record<string, string>> = {
  novnc: '/vnc_lite.html?path=%3Ftoken%3D',
  xvpvnc: '/console?token=',
  'spice-html5': '/spice_auto.html?token=',
  'spice-direct': '/spice-direct?token=',
  serial: '/?token=',
  webmks: '/?token=',
};

/** Only this is kept of a token, so that reading the database opens no console. */
function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** Control characters except tab and newline. */
const CONTROLS = /[^\P{Cc}\t\n]/gu;

/** Consoles of servers. */
export class Consoles {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /**
   * The address of a console of a running server, with a token of its own that leads there for a while.
   * @param type novnc, xvpvnc, spice-html5, spice-direct, serial or webmks
   */
  async open(context: Context, server: Server, type: string): Promise<string> {
    const { machines, clock, settings, store } = this.#core;
    checkAction(rulesOf('console'), server, context.isAdmin);
    if (!server.host || (server.powerState !== 1 && server.powerState !== 3))
      throw conflict(`Instance ${server.id} is not ready`);
    const endpoint = pages[type] === undefined ? null : await machines.console(server, type);
    if (!endpoint) throw badRequest(`Unavailable console type ${type}.`);
    const token = randomUUID();
    const now = clock.now();
    await store.transaction(async (tx) => {
      await tx.db.deleteFrom('console_tokens').where('expires_at', '<', now).execute();
      await tables.consoleTokens.insert(tx, {
        tlsPort: null,
        ...endpoint,
        token: hashOf(token),
        serverId: server.id,
        type,
        expiresAt: now + settings.consoleTokenSeconds * 1000,
      });
    });
    const base = type === 'serial' ? settings.consoleProxyUrl.replace(/^http/, 'ws') : settings.consoleProxyUrl;
    return `${base}${pages[type]}${token}`;
  }

  /** Where a token leads; 404 once it has expired or its server is gone. */
  async resolve(token: string): Promise<ConsoleToken> {
    const { store, clock } = this.#core;
    const consoleToken = await tables.consoleTokens.get(store, hashOf(token));
    const server =
      consoleToken && consoleToken.expiresAt > clock.now() && (await tables.servers.get(store, consoleToken.serverId));
    if (!server || server.deleted) throw notFound('Token not found');
    return consoleToken;
  }

  /**
   * Connects to the console that a token leads to, for a proxy in this process: the bytes of the screen (RFB) or of the serial
   * line. Throws 404 once the token has expired, 409 where the console is not within reach.
   */
  async connect(token: string): Promise<Duplex> {
    const { serverId, type } = await this.resolve(token);
    const { store, machines } = this.#core;
    const server = await tables.servers.get(store, serverId);
    const console = server && (await machines.openConsole(server, type));
    if (!console) throw conflict(`The ${type} console of instance ${serverId} cannot be reached from here.`);
    return console;
  }

  /**
   * What the console has printed.
   * @param lines so many from its end; left out or -1: everything
   */
  async output(context: Context, server: Server, lines?: number): Promise<string> {
    checkAction(rulesOf('os-getConsoleOutput'), server, context.isAdmin);
    if (!server.host) throw conflict(`Instance ${server.id} is not ready`);
    const text = (await this.#core.machines.consoleOutput(server)).replace(CONTROLS, '');
    if (lines === undefined || lines < 0) return text;
    return lines === 0 ? '' : text.split('\n').slice(-lines).join('\n');
  }
}
