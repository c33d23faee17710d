import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '@apistrata/compute-engine';
import type { TappedBodies } from './body-tap.js';
import { type HttpEffect, type HttpRule, matchesRequest } from './http-rule.js';

interface ActiveRule {
  readonly rule: HttpRule;
  readonly handle: HttpRuleHandle;
  calls: number;
}

/** A handle for an active HTTP rule. */
export interface HttpRuleHandle {
  /** The rule that was passed to `add()`. */
  readonly rule: HttpRule;
  remove(): void;
  /** The number of requests that have matched the rule. */
  readonly calls: number;
}

type Serve = () => void;

/** The default body of a scripted response. */
function scriptedFault(status: number): unknown {
  return { computeFault: { code: status, message: 'This response was scripted by a rule of the test cloud.' } };
}

/** Returns the effect of a rule on the latest matching request; undefined if the rule does not apply to it. */
function effectOf({ rule, calls }: ActiveRule): HttpEffect | undefined {
  const callIndex = calls - (rule.fromCall ?? 1);
  if (callIndex < 0) return undefined;
  if (rule.sequence) return rule.sequence[callIndex];
  return callIndex < (rule.times ?? Number.POSITIVE_INFINITY) ? rule : undefined;
}

/** The active HTTP rules. Of all rules that apply to a request, the one that was added first takes effect. */
export class HttpRules {
  readonly #rules = new Set<ActiveRule>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(rule: HttpRule): HttpRuleHandle {
    const handle: HttpRuleHandle = {
      rule,
      remove: () => {
        this.#rules.delete(active);
      },
      get calls() {
        return active.calls;
      },
    };
    const active: ActiveRule = { rule, handle, calls: 0 };
    this.#rules.add(active);
    return handle;
  }

  /** The active rules, in the order in which they were added. */
  get list(): readonly HttpRuleHandle[] {
    return [...this.#rules].map(({ handle }) => handle);
  }

  clear(): void {
    this.#rules.clear();
  }

  /** Handles a request as the first applicable rule specifies. If none applies, calls `serve`. */
  async handle(req: IncomingMessage, res: ServerResponse, tapped: TappedBodies, serve: Serve): Promise<void> {
    const effect = this.#rules.size > 0 ? await this.#effectFor(req, tapped) : undefined;
    if (!effect) return serve();
    if (effect.delayMs) await this.#clock.sleep(effect.delayMs);
    const response = scriptedResponseOf(effect);
    if (!response) return serve();
    if (effect.apply) replaceResponse(res, () => response(res));
    else {
      req.resume();
      return response(res);
    }
    serve();
  }

  async #effectFor(req: IncomingMessage, tapped: TappedBodies): Promise<HttpEffect | undefined> {
    if ([...this.#rules].some(({ rule }) => rule.match.body !== undefined)) await tapped.arrived;
    for (const active of this.#rules) {
      if (!matchesRequest(active.rule.match, req, tapped.requestBody)) continue;
      active.calls++;
      const effect = effectOf(active);
      if (effect) return effect;
    }
    return undefined;
  }
}

/** Returns a function that sends the scripted response; undefined if the service sends its own response. */
function scriptedResponseOf({ status, body, headers, drop }: HttpEffect): ((res: ServerResponse) => void) | undefined {
  if (drop) return (res) => void res.destroy();
  if (status === undefined) return undefined;
  return (res) => {
    const text = JSON.stringify(body ?? scriptedFault(status));
    for (const name of res.getHeaderNames()) if (name.startsWith('content-')) res.removeHeader(name);
    res.statusCode = status;
    res.setHeader('Content-Type', 'application/json');
    for (const [name, value] of Object.entries(headers ?? {})) res.setHeader(name, value);
    res.end(status === 204 ? undefined : text);
  };
}

/** Discards the service's response, and sends another one when the discarded response would have been complete. */
function replaceResponse(res: ServerResponse, sendReplacement: () => void): void {
  const { end, write, writeHead } = res;
  res.writeHead = (() => res) as typeof res.writeHead;
  res.write = (() => true) as typeof res.write;
  res.end = (() => {
    Object.assign(res, { end, write, writeHead });
    sendReplacement();
    return res;
  }) as typeof res.end;
}
