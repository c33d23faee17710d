import { createHash, randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { rulesOf } from '../actions/action-table.js';
import { checkAction } from '../actions/runner/check-action.js';
import type { Context } from '../core/context.js';
import type { Core } from '../core/core.js';
import { badRequest, conflict, notFound } from '../errors/rejection.js';
import type { ConsoleToken, Server } from '../model/index.js';
import { tables } from '../schema/tables.js';

/** Paths of console pages below the proxy's base URL. The token is appended to the path. */
const consolePaths: Readonly<Record<string, string>> = {
  novnc: '/vnc_lite.html?path=%3Ftoken%3D',
  xvpvnc: '/console?token=',
  'spice-html5': '/spice_auto.html?token=',
  'spice-direct': '/spice-direct?token=',
  serial: '/?token=',
  webmks: '/?token=',
};

/**
 * Returns the hash of a token. Only hashes are stored, so that a person who can read the database cannot open consoles.
 */
function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** Matches control characters except tab and newline. */
const CONTROL_CHARACTERS = /[^\P{Cc}\t\n]/gu;

/** Opens server consoles, connects to consoles, and reads console output. */
export class Consoles {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /**
   * Returns the URL of a running server's console, with a new token that expires.
   * @param type novnc, xvpvnc, spice-html5, spice-direct, serial or webmks
   */
  async open(context: Context, server: Server, type: string): Promise<string> {
    const { machines, clock, settings, store } = this.#core;
    checkAction(rulesOf('console'), server, context.isAdmin);
    if (!server.host || (server.powerState !== 1 && server.powerState !== 3))
      throw conflict(`Instance ${server.id} is not ready`);
    const endpoint = consolePaths[type] === undefined ? null : await machines.console(server, type);
    if (!endpoint) throw badRequest(`Unavailable console type ${type}.`);
    const token = randomUUID();
    const now = clock.now();
    await store.transaction(async (tx) => {
      await tx.db.deleteFrom('console_tokens').where('expires_at', '<', now).execute();
      await tables.consoleTokens.insert(tx, {
        tlsPort: null,
        ...endpoint,
        token: hashToken(token),
        serverId: server.id,
        type,
        expiresAt: now + settings.consoleTokenSeconds * 1000,
      });
    });
    const base = type === 'serial' ? settings.consoleProxyUrl.replace(/^http/, 'ws') : settings.consoleProxyUrl;
    return `${base}${consolePaths[type]}${token}`;
  }

  /** Returns the console for which a token was issued. Throws 404 if the token has expired or the server is deleted. */
  async resolve(token: string): Promise<ConsoleToken> {
    const { store, clock } = this.#core;
    const consoleToken = await tables.consoleTokens.get(store, hashToken(token));
    const server =
      consoleToken && consoleToken.expiresAt > clock.now() && (await tables.servers.get(store, consoleToken.serverId));
    if (!server || server.deleted) throw notFound('Token not found');
    return consoleToken;
  }

  /**
   * Connects a proxy in this process to the console for which a token was issued. Returns the byte stream of the screen
   * (RFB) or of the serial port. Throws 404 if the token has expired, and 409 if the console cannot be reached.
   */
  async connect(token: string): Promise<Duplex> {
    const { serverId, type } = await this.resolve(token);
    const { store, machines } = this.#core;
    const server = await tables.servers.get(store, serverId);
    const console = server && (await machines.openConsole(server, type));
    if (!console) throw conflict(`The ${type} console of instance ${serverId} cannot be reached from this process.`);
    return console;
  }

  /**
   * Returns the output of a server's console.
   * @param lines number of lines to return from the end of the output; undefined or -1 returns all lines
   */
  async output(context: Context, server: Server, lines?: number): Promise<string> {
    checkAction(rulesOf('os-getConsoleOutput'), server, context.isAdmin);
    if (!server.host) throw conflict(`Instance ${server.id} is not ready`);
    const text = (await this.#core.machines.consoleOutput(server)).replace(CONTROL_CHARACTERS, '');
    if (lines === undefined || lines < 0) return text;
    return lines === 0 ? '' : text.split('\n').slice(-lines).join('\n');
  }
}
