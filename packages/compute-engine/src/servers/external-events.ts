import { backgroundContext, type Context, elevatedContext } from '../core/context.js';
import type { Core } from '../core/core.js';
import { Rejection } from '../errors/rejection.js';
import type { Server } from '../model/index.js';
import { tables } from '../schema/tables.js';
import type { InterfaceRefresh } from './interfaces/interface-refresh.js';
import type { Servers } from './servers.js';

/** Names of the server events that other services report. */
export type ExternalEventName =
  | 'network-changed'
  | 'network-vif-plugged'
  | 'network-vif-unplugged'
  | 'network-vif-deleted'
  | 'volume-extended'
  | 'power-update'
  | 'accelerator-request-bound'
  | 'volume-reimaged';

/** A server event that another service reports. */
export interface ExternalEvent {
  readonly name: ExternalEventName;
  readonly serverId: string;
  readonly status: 'failed' | 'completed' | 'in-progress';
  readonly tag?: string;
}

/** The result code for an event: 200 accepted; 400 missing tag; 404 unknown server; 422 server without a host. */
export type ExternalEventCode = 200 | 400 | 404 | 422;

/** Functions that validate an event's tag, for the events that require a tag. */
const tagValidators: Partial<Record<ExternalEventName, (tag: string) => boolean>> = {
  'volume-extended': (tag) => tag !== '',
  'power-update': (tag) => tag !== '',
  'accelerator-request-bound': (tag) => tag !== '',
};

type EventHandler = (context: Context, server: Server, event: ExternalEvent) => Promise<void>;

/** Receives server events from other services. */
export class ExternalEvents {
  readonly #core: Core;
  readonly #servers: Servers;
  readonly #refresh: InterfaceRefresh;
  readonly #effects: Partial<Record<ExternalEventName, EventHandler>>;

  constructor(core: Core, servers: Servers, refresh: InterfaceRefresh) {
    this.#core = core;
    this.#servers = servers;
    this.#refresh = refresh;
    const refreshInterfaces: EventHandler = (_, server) => this.#refresh.now(server.id);
    this.#effects = {
      'network-changed': refreshInterfaces,
      'network-vif-deleted': refreshInterfaces,
      'network-vif-plugged': refreshInterfaces,
      'network-vif-unplugged': refreshInterfaces,
      'volume-extended': (context, server, event) => this.#extendVolume(context, server, event),
      'power-update': (context, server, event) => this.#followPowerUpdate(context, server, event),
    };
  }

  /** Handles each event separately. Returns the result codes in the order of the events. */
  async receive(context: Context, events: readonly ExternalEvent[]): Promise<readonly ExternalEventCode[]> {
    const codes: ExternalEventCode[] = [];
    for (const event of events) codes.push(await this.#receive(elevatedContext(context), event));
    return codes;
  }

  /**
   * Handles a report that a volume was extended. The embedded volume service calls this method outside a request, and
   * does not wait for the result.
   */
  reportVolumeExtended(serverId: string, volumeId: string): void {
    const event = { name: 'volume-extended', serverId, status: 'completed', tag: volumeId } as const;
    // Failures are ignored, because the volume was extended even if its host was not notified.
    this.receive(backgroundContext({ userId: '', projectId: '' }), [event]).catch(() => {});
  }

  async #receive(context: Context, event: ExternalEvent): Promise<ExternalEventCode> {
    const server = await tables.servers.get(this.#core.store, event.serverId);
    if (!server || server.deleted) return 404;
    if (tagValidators[event.name]?.(event.tag ?? '') === false) return 400;
    if (!server.host) return 422;
    try {
      await this.#effects[event.name]?.(context, server, event);
    } catch (error) {
      // The event is accepted even if the action is rejected, for example because the server is busy. Later events
      // correct the state.
      if (!(error instanceof Rejection)) throw error;
    }
    return 200;
  }

  async #extendVolume(context: Context, server: Server, { tag }: ExternalEvent): Promise<void> {
    if (tag) await this.#servers.act(context, server.id, 'extendVolume', { volumeId: tag });
  }

  /**
   * Starts or stops a server after another service has powered its machine on or off. No-op if the server already has
   * that state.
   */
  async #followPowerUpdate(context: Context, server: Server, { tag }: ExternalEvent): Promise<void> {
    if (tag === 'POWER_ON' && server.vmState === 'stopped') await this.#servers.act(context, server.id, 'os-start');
    if (tag === 'POWER_OFF' && server.vmState === 'active') await this.#servers.act(context, server.id, 'os-stop');
  }
}
