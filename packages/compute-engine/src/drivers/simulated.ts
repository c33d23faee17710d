import { checkOptions } from '@apistrata/record-store/options';
import type { Clock } from '../clock/clock.js';
import type { Server } from '../model/index.js';
import type {
  ConsoleEndpoint,
  Diagnostics,
  Driver,
  DriverVerb,
  DriverWork,
  HostPowerAction,
  MoveProgress,
  WorkOrigin,
} from './driver.js';
import type { FenceAction } from './fence-guard.js';
import { formatUptime } from './format-uptime.js';
import { SimulatedMachines } from './simulated-machines.js';
import { checkRule, matchesCommand, type Rule } from './simulated-rules.js';

interface ActiveRule {
  readonly rule: Rule;
  readonly handle: RuleHandle;
  calls: number;
  readonly waiting: Set<() => void>;
  released: boolean;
}

/** A handle for a rule that was added to a simulated driver. */
export interface RuleHandle {
  /** The rule. */
  readonly rule: Rule;
  /** Unblocks pending calls and disables the rule. */
  release(): void;
  /** Removes the rule. */
  remove(): void;
  /** The number of calls that have matched the rule. */
  readonly calls: number;
}

/** Options for the simulated driver. Times are in milliseconds of `clock`. */
export interface SimulatedDriverOptions {
  readonly clock: Clock;
  /** Duration of every command, in milliseconds. Default: 0. */
  readonly latencyMs?: number;
  readonly rules?: readonly Rule[];
  /**
   * Directory that stores the machines of one host as files, so that they outlive a host process. Default: machines are
   * not stored.
   */
  readonly directory?: string;
  /** Commands that these machines do not support, as if their hypervisor lacked the feature. */
  readonly unsupported?: readonly DriverVerb[];
}

const OPTION_NAMES: Readonly<Record<keyof SimulatedDriverOptions, true>> = {
  clock: true,
  latencyMs: true,
  rules: true,
  directory: true,
  unsupported: true,
};

const CONSOLE_PORTS: Readonly<Record<string, number>> = {
  novnc: 5900,
  xvpvnc: 5900,
  'spice-html5': 5910,
  'spice-direct': 5910,
  serial: 10000,
  webmks: 8902,
};

/**
 * Simulates machines without a hypervisor, with optional latency and scripted behavior.
 *
 * @example
 * ```ts
 * import { createEngine } from '@apistrata/compute-engine';
 * import { SimulatedDriver } from '@apistrata/compute-engine/drivers';
 *
 * const rules = [{ match: { verb: 'spawn', name: /^web/ }, fail: 'disk full', times: 1 }] as const;
 * const engine = await createEngine({ driver: (clock) => new SimulatedDriver({ clock, latencyMs: 200, rules }) });
 * ```
 */
export class SimulatedDriver implements Driver {
  readonly name = 'simulated';
  readonly #clock: Clock;
  /** The time at which the simulated hosts booted. */
  readonly #bootedAt: number;
  readonly #rules = new Set<ActiveRule>();
  readonly #unsupported: ReadonlySet<DriverVerb>;
  readonly #machines: SimulatedMachines | undefined;
  latencyMs: number;

  constructor(options: SimulatedDriverOptions) {
    checkOptions('new SimulatedDriver()', options, OPTION_NAMES);
    this.#clock = options.clock;
    this.#bootedAt = options.clock.now();
    this.#unsupported = new Set(options.unsupported);
    this.#machines = options.directory === undefined ? undefined : new SimulatedMachines(options.directory);
    this.latencyMs = options.latencyMs ?? 0;
    for (const rule of options.rules ?? []) this.addRule(rule);
  }

  addRule(rule: Rule): RuleHandle {
    checkRule(rule);
    const release = () => {
      activeRule.released = true;
      for (const wake of activeRule.waiting) wake();
      activeRule.waiting.clear();
    };
    const handle: RuleHandle = {
      rule,
      release,
      remove: () => {
        this.#rules.delete(activeRule);
        release();
      },
      get calls() {
        return activeRule.calls;
      },
    };
    const activeRule: ActiveRule = { rule, handle, calls: 0, waiting: new Set(), released: false };
    this.#rules.add(activeRule);
    return handle;
  }

  /** The active rules, in the order in which they were added. */
  get rules(): readonly RuleHandle[] {
    return [...this.#rules].map(({ handle }) => handle);
  }

  clearRules(): void {
    for (const activeRule of this.#rules) for (const wake of activeRule.waiting) wake();
    this.#rules.clear();
  }

  supports(verb: DriverVerb): boolean {
    return !this.#unsupported.has(verb);
  }

  isSynchronous(work: DriverWork, server: Server, origin: WorkOrigin): boolean {
    return (
      this.latencyMs === 0 &&
      !this.#machines &&
      ![...this.#rules].some(({ rule }) => matchesCommand(rule.match, work, server, origin))
    );
  }

  async perform(work: DriverWork, server: Server, signal: AbortSignal, origin: WorkOrigin): Promise<void> {
    if (this.latencyMs > 0) await this.#clock.sleep(this.latencyMs, signal);
    for (const activeRule of this.#rules) {
      if (matchesCommand(activeRule.rule.match, work, server, origin)) await this.#apply(activeRule, signal);
    }
    await this.#machines?.update(work, server);
  }

  async fence(action: FenceAction): Promise<readonly string[]> {
    return (await this.#machines?.fence(action)) ?? [];
  }

  async machines(): Promise<readonly string[]> {
    return (await this.#machines?.list()) ?? [];
  }

  snapshotContent(server: Server, imageId: string): Uint8Array {
    return Buffer.from(`Snapshot ${imageId} of simulated machine ${server.hostname} (${server.id})\n`);
  }

  async #apply(activeRule: ActiveRule, signal: AbortSignal): Promise<void> {
    const { rule } = activeRule;
    activeRule.calls++;
    const firstCall = rule.fromCall ?? 1;
    if (activeRule.calls < firstCall || activeRule.calls >= firstCall + (rule.times ?? Number.POSITIVE_INFINITY))
      return;
    if (rule.delayMs) await this.#clock.sleep(rule.delayMs, signal);
    if (rule.hang && !activeRule.released) {
      await new Promise<void>((resolve, reject) => {
        const stop = () => {
          activeRule.waiting.delete(wake);
          reject(signal.reason);
        };
        const wake = () => {
          signal.removeEventListener('abort', stop);
          resolve();
        };
        if (signal.aborted) return stop();
        signal.addEventListener('abort', stop, { once: true });
        activeRule.waiting.add(wake);
      });
    }
    if (rule.fail !== undefined) throw new Error(rule.fail);
  }

  async hostUptime(): Promise<string> {
    const now = this.#clock.now();
    return formatUptime(now, now - this.#bootedAt);
  }

  /** Accepts every power action. */
  async hostPower(_host: string, action: HostPowerAction): Promise<string> {
    return action;
  }

  async hostMaintenance(): Promise<void> {}

  async consoleOutput(server: Server): Promise<string> {
    const lines = [
      `[    0.000000] Simulated machine ${server.hostname} (${server.flavor.vcpus} CPUs, ${server.flavor.memoryMb} MiB)`,
      '[    0.100000] Booting',
      ...server.interfaces.map(
        ({ mac, fixedIps }, i) => `[    0.${200 + i}000] eth${i}: ${mac} ${fixedIps.map((ip) => ip.address).join(' ')}`,
      ),
      `${server.hostname} login: `,
    ];
    return lines.join('\n');
  }

  async diagnostics(server: Server): Promise<Diagnostics> {
    const elapsedSeconds = Math.max(
      0,
      Math.floor((this.#clock.now() - (server.launchedAt ?? this.#clock.now())) / 1000),
    );
    return {
      state: 'running',
      driver: 'libvirt',
      hypervisor: 'kvm',
      hypervisorOs: 'linux',
      uptimeSeconds: elapsedSeconds,
      configDrive: server.configDrive,
      cpus: Array.from({ length: server.flavor.vcpus }, (_, id) => ({
        id,
        timeNs: elapsedSeconds * 1_000_000_000,
        utilisation: null,
      })),
      nics: server.interfaces.map(({ mac }) => ({
        macAddress: mac,
        rxBytes: 0,
        rxPackets: 0,
        rxErrors: 0,
        rxDrop: 0,
        txBytes: 0,
        txPackets: 0,
        txErrors: 0,
        txDrop: 0,
      })),
      disks: server.blockDevices.map(({ device }) => ({
        name: device,
        readBytes: 0,
        readRequests: 0,
        writeBytes: 0,
        writeRequests: 0,
        errors: 0,
      })),
      memoryMaximumMb: server.flavor.memoryMb,
      memoryUsedMb: server.flavor.memoryMb,
    };
  }

  /** Reports half of the memory as transferred until the migration ends. */
  async moveProgress({ flavor }: Server): Promise<MoveProgress> {
    const memoryTotalBytes = flavor.memoryMb * 2 ** 20;
    const memoryProcessedBytes = Math.floor(memoryTotalBytes / 2);
    const memoryRemainingBytes = memoryTotalBytes - memoryProcessedBytes;
    const diskProgress = { diskTotalBytes: 0, diskProcessedBytes: 0, diskRemainingBytes: 0 };
    return { memoryTotalBytes, memoryProcessedBytes, memoryRemainingBytes, ...diskProgress };
  }

  async console(server: Server, type: string): Promise<ConsoleEndpoint | null> {
    const port = CONSOLE_PORTS[type];
    return port === undefined
      ? null
      : { host: server.host ?? '', port: port + (server.seq % 1000), internalAccessPath: null };
  }
}
